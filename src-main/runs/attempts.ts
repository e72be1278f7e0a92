import type { RunRecord, RunStatus } from '../../protocol/run-record.ts';

type Attempts = RunRecord['attempts'];

/** The attempts with the last of them ended now. */
export function withEnd(attempts: Attempts, status: RunStatus): Attempts {
  const last = attempts.at(-1);
  if (last === undefined) return attempts;
  return attempts.with(-1, { ...last, status, endedAt: new Date().toISOString() });
}

/** The attempts with one more, which begins now. */
export function withNext(attempts: Attempts): Attempts {
  const startedAt = new Date().toISOString();
  return [...attempts, { attempt: attempts.length + 1, startedAt, endedAt: null, status: 'running' }];
}
