import type { RunRecord, RunStatus } from '../../protocol/run-record.ts';

type Attempts = RunRecord['attempts'];

/** The attempts with the last of them ended now. */
export function withEnd(attempts: Attempts, status: RunStatus): Attempts {
  const endedAt = new Date().toISOString();
  return attempts.map((attempt, index) => (index === attempts.length - 1 ? { ...attempt, status, endedAt } : attempt));
}

/** The attempts with one more, which begins now. */
export function withNext(attempts: Attempts): Attempts {
  const startedAt = new Date().toISOString();
  return [...attempts, { attempt: attempts.length + 1, startedAt, endedAt: null, status: 'running' }];
}
