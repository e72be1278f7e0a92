import { lostRanksOf } from '../../../core/protocol/run/lost-members.ts';
import type { RunError, RunRecord, RunStatus, RunSummary } from '../../../core/protocol/run/record.ts';
import { findResumePoint, type ResumePoint } from '../../store/runs/resume-point.ts';

/** Missing members that train alone, up to where the others ended. */
export interface Completion {
  ranks: readonly number[];
  until: ResumePoint;
  /** The first rank of those that have ended there. */
  first: number;
}

/**
 * The completion of a missing member. Members that a lost process trained as one computation are completed together.
 * @throws Error if the rank is not missing, or the others have saved no state
 */
export async function planCompletion(folder: string, record: RunRecord, rank: number): Promise<Completion> {
  const { id, plan } = record;
  const missing = lostRanksOf(record);
  if (!missing.includes(rank)) {
    const which =
      missing.length === 0 ? 'no member is' : `only ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'}`;
    throw new Error(`Rank ${rank} of the run ${id} is not missing: ${which}. To continue all: tutti resume ${id}`);
  }
  const stack = plan.find((placement) => placement.rank === rank)?.stack;
  const isTogether = (placement: RunRecord['plan'][number]): boolean =>
    placement.rank === rank || (stack !== undefined && placement.stack === stack && missing.includes(placement.rank));
  const others = plan.flatMap((placement) => (missing.includes(placement.rank) ? [] : [placement.rank]));
  const until = await findResumePoint(folder, others);
  if (until === null) {
    throw new Error(
      `Rank ${rank} of the run ${id} cannot be completed yet: the other members have saved no state. Continue ` +
        `them first: tutti resume ${id}`,
    );
  }
  return { ranks: plan.filter(isTogether).map((placement) => placement.rank), until, first: others[0] };
}

/**
 * The changes of a run's record by a completion: the run keeps its status and gains the members, and what is evaluated
 * of all. An attempt that did not complete them leaves the record as it was.
 * @param before the record before the attempt
 * @param status of the attempt; `finished` once the members have come as far as the others
 */
export function recordAfter(
  { ranks }: Completion,
  before: RunRecord,
  status: RunStatus,
  summary: RunSummary,
): Partial<RunRecord> {
  const kept = { status: before.status, error: before.error };
  if (status !== 'finished') return { ...kept, summary: before.summary };
  const missing = before.lostMembers?.filter(({ rank }) => !ranks.includes(rank)) ?? [];
  return {
    ...kept,
    lostMembers: missing.length === 0 ? undefined : missing,
    summary: before.summary === null ? null : merged(before.summary, summary),
  };
}

export function completed({ ranks }: Completion): string {
  return `The missing rank ${ranks.join(', ')} has come as far as the others.`;
}

export function whyNotCompleted({ ranks }: Completion, { message }: RunError): Error {
  return new Error(`The missing rank ${ranks.join(', ')} could not be completed, and the run is as before: ${message}`);
}

function merged(before: RunSummary, summary: RunSummary): RunSummary {
  const evaluatedSets = summary.evaluatedSets.length === 0 ? before.evaluatedSets : summary.evaluatedSets;
  const epochs = Math.max(before.epochs, summary.epochs);
  const steps = Math.max(before.steps, summary.steps);
  return { ...summary, epochs, steps, evaluatedSets, stopReason: before.stopReason };
}
