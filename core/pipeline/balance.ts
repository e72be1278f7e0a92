/** Cost of a stage that holds the units from `start` to before `end`. */
export type StageCost = (start: number, end: number, stage: number) => number;

/**
 * Splits a chain of n units into S stages of at least one unit each, so that the largest cost of a stage is as small as possible. Dynamic programming
 * over the first j units and s stages: best(s, j) = min over i of max(best(s − 1, i), cost(i, j, s)), in O(S n²).
 *
 * @returns the first unit of each stage, ascending, shape `[S]`; of equally good splits the one with the smallest last cuts
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
