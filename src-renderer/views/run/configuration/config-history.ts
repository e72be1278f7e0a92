import { z } from 'zod';
import type { PlainObject } from '../../../../core/options/index.ts';
import { type Attempt, configOfAttempt, type RunEvent, type RunRecord } from '../../../../core/protocol/run/record.ts';
import { settingNames, settingPaths, settingsOf, withChanges } from '../../../../core/protocol/run/settings.ts';

/**
 * The configurations that a run trained with, in order: each attempt's at its start and at its end. Attempts of earlier versions did not
 * store theirs and are left out.
 */
export function configHistory(record: Pick<RunRecord, 'attempts' | 'config' | 'changed'>): PlainObject[] {
  if (record.attempts.length === 0) return [{ ...record.config }, withChanges(record.config, record.changed)];
  return record.attempts.flatMap((attempt, index) => {
    const config = configOfAttempt(record, attempt);
    const isLast = index === record.attempts.length - 1;
    return config === null ? [] : [{ ...config }, withChanges(config, isLast ? record.changed : attempt.changed)];
  });
}

/** `Attempt 2, resumed at epoch 5 (step 12)`. */
export function describeAttempt({ attempt, kind, from }: Attempt): string {
  const verbs = { start: 'started', fork: 'forked', resume: 'resumed', restart: 'restarted' };
  const begun = `Attempt ${attempt}${kind === undefined ? '' : `, ${verbs[kind]}`}`;
  if (from === undefined || from === null || from.step === 0) return begun;
  return `${begun} at epoch ${from.epoch + 1} (step ${from.step})`;
}

/** An option that was changed while the run trained. */
export interface LiveChange {
  path: string;
  /** The configured value. */
  configured: number;
  now: number;
  /** When each rank changed to which value, in order. */
  steps: { attempt: number; rank: number | null; step: number | null; to: unknown; time: string }[];
}

const changeSchema = z.object({ path: z.string(), to: z.unknown() });

/** The options that were changed while a run trained, also those that were set back since. */
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
