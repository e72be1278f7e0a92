import { factsOf, type RunUpdate } from '../../../core/protocol/pages/run-updates.ts';
import { PointBuffer } from '../../../core/protocol/wire/points.ts';
import type { FollowedRun } from '../../hub/followed-run.ts';

/**
 * What a report needs to know of a run's past: its record, the facts, every evaluation of the ensemble, and the latest
 * loss of each member, which tells its step.
 */
export function pastUpdates(run: FollowedRun): RunUpdate[] {
  const about = factsOf(run.events);
  const record: RunUpdate = { type: 'record', record: run.record, folder: run.folder };
  if (about === null) return [record];
  const points = new PointBuffer();
  for (const name of run.columns.names) {
    const column = run.columns.get(name);
    const isMonitor = name === about.ensembleMonitor;
    if (column === undefined || !(isMonitor || /^train\/member_\d+_loss$/.test(name))) continue;
    for (let i = isMonitor ? 0 : Math.max(0, column.length - 1); i < column.length; i++) {
      points.add(name, column.epoch[i], column.step[i], column.value[i]);
    }
  }
  const batch: RunUpdate[] = points.length === 0 ? [] : [{ type: 'points', rank: 0, batch: points.take() }];
  return [record, { type: 'described', about }, ...batch];
}
