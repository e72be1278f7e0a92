/**
 * Operations in which every rank of a group takes part, then those between two ranks (`send`, `receive`). Their order
 * is part of the wire format: append only.
 */
export const collectiveOperations = [
  'all-gather',
  'all-reduce',
  'broadcast',
  'reduce-scatter',
  'barrier',
  'shift',
  'send',
  'receive',
] as const;
export type CollectiveOperation = (typeof collectiveOperations)[number];

/**
 * The requests of a collective. Without shared memory there is one (`whole`), and its answer brings the result. Ranks
 * that share memory make several under one sequence number:
 *
 * - `reserve`: the rank has room for its array (answer: whether all have).
 * - `written`: its array lies in memory. `reduced`: its slice of the result does.
 * - `mapped`: the rank begins; from here on ranks wait for each other in memory. `stuck` reports, with their indices,
 *   ranks that it has waited for too long.
 * - `awaited`: the rank has waited longer than usual for other ranks' small arrays in memory. `withdrawn`: it has them
 *   now.
 *
 * Their order is part of the wire format: append only.
 */
export const collectiveStages = [
  'whole',
  'reserve',
  'written',
  'reduced',
  'mapped',
  'stuck',
  'awaited',
  'withdrawn',
] as const;
export type CollectiveStage = (typeof collectiveStages)[number];

/** What the relay and the ranks do with a request. */
export interface StageRule {
  /** Where the arrays are. In memory, the answer brings none. */
  arraysIn: 'frames' | 'memory';
  answered: 'when all ranks ask' | 'at once' | 'never';
  /**
   * Whether the first request under a sequence number must come in the order of those numbers. The relay hears late, or
   * never, of small arrays in memory.
   */
  isOrdered: boolean;
  /** The earlier request of the same rank that this one reports on; null for requests that every rank makes. */
  reportsOn: CollectiveStage | null;
  /** What every rank requests next under the same sequence number, one of these; empty where the collective is over. */
  next: readonly CollectiveStage[];
}

const byAll = { answered: 'when all ranks ask', isOrdered: true, reportsOn: null } as const;
const report = { arraysIn: 'frames', isOrdered: false, next: [] } as const;

/** The only table of a collective's stages. An all-reduce alone has the stage `reduced`: see {@link nextStages}. */
export const stageRules: Readonly<Record<CollectiveStage, StageRule>> = {
  whole: { ...byAll, arraysIn: 'frames', next: [] },
  reserve: { ...byAll, arraysIn: 'frames', next: ['reserve', 'whole', 'written', 'mapped'] },
  written: { ...byAll, arraysIn: 'memory', next: ['reduced'] },
  reduced: { ...byAll, arraysIn: 'memory', next: [] },
  mapped: { ...byAll, arraysIn: 'memory', next: [] },
  stuck: { ...report, answered: 'at once', reportsOn: 'mapped' },
  awaited: { answered: 'never', isOrdered: false, reportsOn: null, arraysIn: 'memory', next: [] },
  withdrawn: { ...report, answered: 'never', reportsOn: 'awaited' },
};

/** The stages with which a collective may begin. */
const firstStages: readonly CollectiveStage[] = ['whole', 'reserve', 'written', 'mapped', 'awaited'];

interface Staged {
  stage: CollectiveStage;
  operation: CollectiveOperation;
}

/**
 * What every rank requests next, one of these, under the sequence number of `call`; empty where the collective is over.
 */
export function nextStages({ stage, operation }: Staged): readonly CollectiveStage[] {
  if (stage === 'written' && operation !== 'all-reduce') return [];
  return stageRules[stage].next;
}

/** Whether a rank may request `stage` after `previous`, under the same sequence number; null: as its first request. */
export function mayFollow(previous: Staged | null, stage: CollectiveStage): boolean {
  if (previous === null) return firstStages.includes(stage);
  const { reportsOn } = stageRules[stage];
  if (reportsOn !== null) return previous.stage === reportsOn || (stage === 'stuck' && previous.stage === 'stuck');
  return nextStages(previous).includes(stage);
}
