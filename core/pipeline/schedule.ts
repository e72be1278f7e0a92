/**
 * Schedules of a pipeline: the order in which a stage does the forward and backward passes of a step's micro-batches.
 * `S` stages, numbered from 0; `M` micro-batches.
 */

/** A pass of one micro-batch through a stage. */
export interface Instruction {
  pass: 'forward' | 'backward';
  /** Index of the micro-batch, from 0. */
  part: number;
}

export type ScheduleKind = '1f1b' | 'gpipe';

/**
 * The passes of one stage in a step. Backward passes have the order of the micro-batches in both schedules, so that
 * both add gradients in the same order and give the same bits.
 *
 * - `gpipe`: all forward passes, then all backward passes; M activations are in flight (Huang et al., 2019, "GPipe").
 * - `1f1b`: after min(S − 1 − s, M) forward passes, stage s does one forward and one backward pass in turn; at most S −
 *   s activations are in flight (Narayanan et al., 2021, "Memory-efficient pipeline-parallel DNN training",
 *   PipeDream-flush).
 *
 * @throws RangeError for a stage outside of 0 to S − 1
 */
export function stageSchedule(kind: ScheduleKind, stages: number, stage: number, parts: number): Instruction[] {
  if (!(stage >= 0 && stage < stages)) throw new RangeError(`Stage ${stage} is not one of 0 to ${stages - 1}.`);
  const ahead = Math.min(kind === 'gpipe' ? parts : stages - 1 - stage, parts);
  const instructions: Instruction[] = [];
  for (let part = 0; part < ahead; part++) instructions.push({ pass: 'forward', part });
  for (let part = 0; part < parts; part++) {
    if (ahead + part < parts) instructions.push({ pass: 'forward', part: ahead + part });
    instructions.push({ pass: 'backward', part });
  }
  return instructions;
}

/** Micro-batches whose activations a stage holds at most: min(S − s, M) with `1f1b`, M with `gpipe`. */
export function mostInFlight(kind: ScheduleKind, stages: number, stage: number, parts: number): number {
  return kind === 'gpipe' ? parts : Math.min(stages - stage, parts);
}

/**
 * Share of a step in which a stage of S equal ones waits: (S − 1) / (M + S − 1), in both schedules (Huang et al.,
 * 2019).
 */
export function bubbleFraction(stages: number, parts: number): number {
  return (stages - 1) / (parts + stages - 1);
}

/** Where a rank of M pipelined members with S stages each has its place. */
interface PipelinePlace {
  /** The member, from 0 to M − 1. */
  member: number;
  /** The stage, from 0 to S − 1. */
  stage: number;
  /** The ranks of this member, by stage; shape `[S]`. */
  ofMember: readonly number[];
  /** The ranks with this stage, by member; shape `[M]`. */
  ofStage: readonly number[];
}

/**
 * The place of a rank: rank = stage · M + member. So ranks 0 to M − 1 hold the first stages and keep what their members
 * keep, as in any ensemble of M.
 * @throws RangeError if the ranks are not a multiple of the stages
 */
export function pipelinePlace(rank: number, ranks: number, stages: number): PipelinePlace {
  const members = ranks / stages;
  if (!Number.isInteger(members))
    throw new RangeError(`${ranks} ranks do not divide into members of ${stages} stages.`);
  const member = rank % members;
  const stage = Math.floor(rank / members);
  return {
    member,
    stage,
    ofMember: Array.from({ length: stages }, (_, other) => other * members + member),
    ofStage: Array.from({ length: members }, (_, other) => stage * members + other),
  };
}

/** Cost of a stage that holds the units from `start` to before `end`. */
export type StageCost = (start: number, end: number, stage: number) => number;

/**
 * Splits a chain of n units into S stages of at least one unit each, so that the largest cost of a stage is as small as
 * possible. Dynamic programming over the first j units and s stages: best(s, j) = min over i of max(best(s − 1, i),
 * cost(i, j, s)), in O(S n²).
 *
 * @returns the first unit of each stage, ascending, shape `[S]`; of equally good splits the one with the smallest last
 * cuts
 * @throws RangeError with fewer units than stages
 */
export function balanceStages(units: number, stages: number, cost: StageCost): number[] {
  if (stages < 1 || units < stages) {
    throw new RangeError(`${units} unit(s) cannot be split into ${stages} stages of at least one.`);
  }
  let best = Array.from({ length: units + 1 }, (_, end) => (end === 0 ? Infinity : cost(0, end, 0)));
  const starts: number[][] = [];
  for (let stage = 1; stage < stages; stage++) {
    const [costs, ofStage] = nextStage(best, stage, cost);
    starts.push(ofStage);
    best = costs;
  }
  const cuts: number[] = [];
  let end = units;
  for (const ofStage of starts.toReversed()) cuts.unshift((end = ofStage[end]));
  return [0, ...cuts];
}

/** The least largest costs of the first j units in one more stage, and where that stage then begins. */
function nextStage(best: readonly number[], stage: number, cost: StageCost): [costs: number[], starts: number[]] {
  const costs = best.map(() => Infinity);
  const starts = best.map(() => 0);
  for (let end = stage + 1; end < best.length; end++) {
    for (let start = stage; start < end; start++) {
      const largest = Math.max(best[start], cost(start, end, stage));
      if (largest < costs[end]) [costs[end], starts[end]] = [largest, start];
    }
  }
  return [costs, starts];
}

/** The cost of stages as the sum of their units' costs. */
export function sumOfUnits(costs: readonly number[]): StageCost {
  const sums = [0];
  for (const cost of costs) sums.push(sums[sums.length - 1] + cost);
  return (start, end) => sums[end] - sums[start];
}
