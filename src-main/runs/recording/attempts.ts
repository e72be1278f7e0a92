import type { Attempt, RunRecord, RunStatus } from '../../../core/protocol/run/record.ts';

type Attempts = readonly Attempt[];
/** The kind and the inputs of an attempt. */
export type AttemptFacts = Pick<
  Attempt,
  'kind' | 'overrides' | 'config' | 'changed' | 'completes' | 'sourceHash' | 'gitCommit' | 'environment'
>;

/** The attempts, the last of them ended now. */
export function withEnd(attempts: Attempts, status: RunStatus, changed: RunRecord['changed']): Attempt[] {
  return changeLast(attempts, {
    status,
    endedAt: new Date().toISOString(),
    ...(changed === undefined ? {} : { changed }),
  });
}

/** The attempts and a new one, which starts now. */
export function withNext(attempts: Attempts, facts: AttemptFacts): Attempt[] {
  const startedAt = new Date().toISOString();
  return [...attempts, { ...facts, attempt: attempts.length + 1, startedAt, endedAt: null, status: 'running' }];
}

/** The attempts of a record, the last of them ended as failed, and one that starts now with the same inputs. */
export function withRestart({ attempts, changed }: RunRecord): Attempt[] {
  const { config, sourceHash, gitCommit, environment } = attempts[attempts.length - 1];
  return withNext(withEnd(attempts, 'failed', changed), {
    kind: 'restart',
    config,
    sourceHash,
    gitCommit,
    environment,
  });
}

/** The record of a run whose folder is gone. */
export function withoutFolder(record: RunRecord, message: string): RunRecord {
  const error = { message, rank: null, device: null, epoch: null, step: null };
  const attempts = withEnd(record.attempts, 'failed', record.changed);
  const endedAt = attempts.at(-1)?.endedAt ?? null;
  return { ...record, status: 'failed', error, attempts, endedAt, hub: null };
}

/** The attempts with the position from which the last one's ranks continue. */
export function withStart(attempts: Attempts, from: Attempt['from']): Attempt[] {
  return changeLast(attempts, { from });
}

function changeLast(attempts: Attempts, changes: Partial<Attempt>): Attempt[] {
  return attempts.map((attempt, index) => (index === attempts.length - 1 ? { ...attempt, ...changes } : attempt));
}
