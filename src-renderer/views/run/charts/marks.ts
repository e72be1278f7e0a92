import { improves, type MetricMode, modeFor } from '../../../../core/metrics/metric-mode.ts';
import type { RunRecord } from '../../../../core/protocol/run/record.ts';
import type { ChartBand, ChartMarker, Column } from '../../../charts/types.ts';
import type { ChartSpec } from './chart-specs.ts';
import type { LineColumns } from './line-columns.ts';
import type { LiveLine } from './use-live-charts.ts';

/** The markers of all lines at their best points. */
export function optimaOf({ best }: ChartSpec, lines: readonly LiveLine[]): ChartMarker[] {
  if (best === null) return [];
  return lines.flatMap(({ spec, columns }) => {
    const marker = optimumMarker({ id: spec.metric, label: spec.label, columns }, best);
    return marker === null ? [] : [marker];
  });
}

/** The patience window, in the chart of the ensemble's metric that joint early stopping monitors. */
export function patienceOf(
  { config, changed }: Pick<RunRecord, 'config' | 'changed'>,
  ensembleMonitor: string | null,
  lines: readonly LiveLine[],
): ChartBand[] {
  const { enabled, joint, monitor, mode } = config.earlyStopping;
  const patience = changed?.patience ?? config.earlyStopping.patience;
  if (!enabled || !joint) return [];
  const watched = monitor === 'auto' ? ensembleMonitor : monitor;
  const line = lines.find(({ spec }) => spec.metric === watched);
  const best = watched === null ? null : modeFor(watched, mode);
  const band = line === undefined || best === null ? null : patienceBand(line.columns, best, patience);
  return band === null ? [] : [band];
}

/** Index of a line's best point, the first of equals; -1 if no value is finite. */
export function bestIndex({ y, length }: Pick<LineColumns, 'y' | 'length'>, best: MetricMode): number {
  let found = -1;
  for (let index = 0; index < length; index++) {
    if (improves(y[index], found === -1 ? null : y[found], best)) found = index;
  }
  return found;
}

/** The marker at a line's best point; null before its first finite value. */
export function optimumMarker(
  line: { id: string; label: string; columns: LineColumns },
  best: MetricMode,
): ChartMarker | null {
  const { id, label, columns } = line;
  const index = bestIndex(columns, best);
  if (index === -1) return null;
  const epoch = columns.x.epoch[index];
  return {
    seriesId: id,
    x: positionOf(columns, index),
    y: columns.y[index],
    label: `${label}, best after epoch ${Number(epoch.toFixed(1))}`,
  };
}

/**
 * The evaluations after the best one within which an improvement keeps the run going. Assumes that future evaluations
 * are as far apart as earlier ones were on average.
 *
 * @param patience evaluations
 */
export function patienceBand(columns: LineColumns, best: MetricMode, patience: number): ChartBand | null {
  const from = bestIndex(columns, best);
  if (from === -1) return null;
  const to = from + patience;
  const last = columns.length - 1;
  const { step, epoch, time } = columns.x;
  const end = (column: Column): number => {
    if (to <= last) return column[to];
    const spacing = last === 0 ? column[0] : (column[last] - column[0]) / last;
    return column[last] + (to - last) * spacing;
  };
  return {
    from: positionOf(columns, from),
    to: { step: end(step), epoch: end(epoch), time: time && end(time) },
    label: `patience: ${patience} evaluations`,
  };
}

function positionOf({ x: { step, epoch, time } }: LineColumns, index: number): ChartMarker['x'] {
  return { step: step[index], epoch: epoch[index], time: time && time[index] };
}
