import { z } from 'zod';
import type { RunEvent, RunRecord } from '../../../../core/protocol/run/record.ts';
import { settingNames, settingPaths, settingsOf } from '../../../../core/protocol/run/settings.ts';

/** An option that was changed while the run trained. */
export interface LiveChange {
  path: string;
  /** As the run was configured. */
  configured: number;
  now: number;
  /** In their order: where which rank went over to which value. */
  steps: { attempt: number; rank: number | null; step: number | null; to: unknown; time: string }[];
}

const changeSchema = z.object({ path: z.string(), to: z.unknown() });

/** What of a run's configuration was changed while it trained, also where it has been set back since. */
export function liveChanges({ config, changed }: RunRecord, events: readonly RunEvent[]): LiveChange[] {
  const configured = settingsOf(config);
  const steps = events.flatMap(({ kind, data, attempt, rank, step, time }) => {
    const change = kind === 'changed' ? changeSchema.safeParse(data) : null;
    return change?.success ? [{ path: change.data.path, attempt, rank, step, to: change.data.to, time }] : [];
  });
  return settingNames.flatMap((name) => {
    const path = settingPaths[name];
    const own = steps.filter((step) => step.path === path).map(({ path: _path, ...step }) => step);
    if (own.length === 0 && changed?.[name] === undefined) return [];
    return [{ path, configured: configured[name], now: changed?.[name] ?? configured[name], steps: own }];
  });
}
