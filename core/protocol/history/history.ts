import { leavesOf } from '../../options/index.ts';
import { type Attempt, configOfAttempt, type RunEvent, type RunRecord } from '../run/record.ts';

/** An option that an attempt changed. */
export interface ConfigChange {
  path: string;
  /** Undefined where the option did not exist. */
  from: unknown;
  to: unknown;
}

/** An attempt of a run beside the one before it. */
export interface AttemptHistory {
  attempt: Attempt;
  /** Options that differ from those of the attempt before; null where an earlier version did not keep them. */
  changes: ConfigChange[] | null;
  /** Whether the project's source differs from that of the attempt before. */
  hasNewSource: boolean;
  /** The message of the event with which it ended; null while it trains. */
  ending: string | null;
}

const endings: ReadonlySet<string> = new Set(['finished', 'stopped', 'failed', 'interrupted', 'lost', 'folder-lost']);

/** The attempts of a run in order: what each changed, and why it ended. */
export function attemptHistory(
  record: Pick<RunRecord, 'attempts' | 'config' | 'error'>,
  events: readonly RunEvent[],
): AttemptHistory[] {
  return record.attempts.map((attempt, index) => {
    const before = index === 0 ? null : record.attempts[index - 1];
    const isLast = index === record.attempts.length - 1;
    const told = events.findLast((event) => event.attempt === attempt.attempt && endings.has(event.kind));
    const failure = isLast && attempt.endedAt !== null ? (record.error?.message ?? null) : null;
    return {
      attempt,
      changes: before === null ? [] : changesBetween(record, before, attempt),
      hasNewSource: before?.sourceHash !== undefined && before.sourceHash !== attempt.sourceHash,
      ending: failure ?? told?.message ?? null,
    };
  });
}

function changesBetween(
  record: Pick<RunRecord, 'attempts' | 'config'>,
  before: Attempt,
  attempt: Attempt,
): ConfigChange[] | null {
  const [from, to] = [configOfAttempt(record, before), configOfAttempt(record, attempt)];
  if (from === null || to === null) return null;
  const [old, now] = [new Map(leavesOf(from)), new Map(leavesOf(to))];
  return [...new Set([...old.keys(), ...now.keys()])]
    .map((path) => ({ path, from: old.get(path), to: now.get(path) }))
    .filter((change) => JSON.stringify(change.from) !== JSON.stringify(change.to));
}
