import type { PlainObject } from '../../../../core/options/index.ts';
import { type Attempt, configOfAttempt, type RunRecord } from '../../../../core/protocol/run/record.ts';
import { withChanges } from '../../../../core/protocol/run/settings.ts';

/**
 * The configurations that a run trained with, in their order: that of each attempt, and what it became while it trained. Attempts of earlier
 * versions, whose configuration nobody kept, are left out.
 */
export function configHistory(record: Pick<RunRecord, 'attempts' | 'config' | 'changed'>): PlainObject[] {
  if (record.attempts.length === 0) return [{ ...record.config }, withChanges(record.config, record.changed)];
  return record.attempts.flatMap((attempt, index) => {
    const config = configOfAttempt(record, attempt);
    const isLast = index === record.attempts.length - 1;
    return config === null ? [] : [{ ...config }, withChanges(config, isLast ? record.changed : attempt.changed)];
  });
}

/** Attempts that trained, as a reader knows them: `Attempt 2, resumed at epoch 5 (step 12)`. */
export function describeAttempt({ attempt, kind, from }: Attempt): string {
  const verbs = { start: 'started', resume: 'resumed', restart: 'restarted' };
  const begun = `Attempt ${attempt}${kind === undefined ? '' : `, ${verbs[kind]}`}`;
  if (from === undefined || from === null || from.step === 0) return begun;
  return `${begun} at epoch ${from.epoch + 1} (step ${from.step})`;
}
