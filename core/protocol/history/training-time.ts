import type { Attempt, RunRecord } from '../run/record.ts';

/**
 * How long a run has trained, in ms: the sum of its attempts. The time between an interruption and the resume does not count; a pause
 * within an attempt does.
 *
 * @param nowMs the present time in ms since 1970, for an attempt that still trains
 */
export function trainingTimeMs({ attempts }: Pick<RunRecord, 'attempts'>, nowMs: number): number {
  return attempts.reduce((sum, attempt) => sum + lengthMs(attempt, nowMs), 0);
}

function lengthMs({ startedAt, endedAt }: Pick<Attempt, 'startedAt' | 'endedAt'>, nowMs: number): number {
  return Math.max(0, (endedAt === null ? nowMs : Date.parse(endedAt)) - Date.parse(startedAt));
}
