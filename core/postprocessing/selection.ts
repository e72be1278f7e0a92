import { mixtureLogLikelihoods, nllOf } from '../metrics/likelihood.ts';

/** Members of an ensemble, chosen from candidates. */
export interface Selection {
  /** Positions of the chosen candidates in the order of choice; one that repeats has more weight. */
  chosen: number[];
  /** NLL of the mixture after each choice, in nats. */
  nlls: number[];
}

/**
 * Greedy selection with replacement: in each round, adds the candidate with which the mixture of all chosen ones has
 * the least NLL on held-out samples, then keeps the rounds up to the best one. Of equally good candidates it takes one
 * that is already a member, which costs no further prediction, and else the first.
 *
 * Source: Caruana, Niculescu-Mizil, Crew and Ksikes, "Ensemble selection from libraries of models", ICML 2004; 25
 * rounds as in AutoGluon (Erickson et al., 2020).
 *
 * @param logLikelihoods log p(y_n) of each candidate, C arrays of shape `[N]`
 * @param rounds most choices
 * @throws RangeError without candidates
 */
export function selectGreedily(logLikelihoods: readonly Float64Array[], rounds = 25): Selection {
  const likelihoods = logLikelihoods.map((row) => row.map(Math.exp));
  const { chosen, losses } = selectByMean(likelihoods, (mean) => nllOf(mean.map(Math.log)), rounds);
  return { chosen, nlls: losses };
}

/**
 * The same for any loss of the mean of what the candidates predict, such as the pinball loss of the mean quantiles.
 *
 * @param rows what each candidate predicts, C arrays of shape `[N]`
 * @param lossOfMean of the mean of the chosen rows, shape `[N]`; smaller is better
 * @returns the choices and the loss after each
 * @throws RangeError without candidates
 */
export function selectByMean(
  rows: readonly Float64Array[],
  lossOfMean: (mean: Float64Array) => number,
  rounds: number,
): { chosen: number[]; losses: number[] } {
  if (rows.length === 0) throw new RangeError('There is no candidate to choose: name checkpoints of one run or more.');
  const sum = new Float64Array(rows[0].length);
  const chosen: number[] = [];
  const losses: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    const ofCandidates = rows.map((row) => lossOfMean(row.map((value, sample) => (sum[sample] + value) / round)));
    const candidate = leastOf(ofCandidates, new Set(chosen));
    chosen.push(candidate);
    losses.push(ofCandidates[candidate]);
    rows[candidate].forEach((value, sample) => (sum[sample] += value));
  }
  // Rounding must not make a longer prefix better than one with the same weights.
  const least = Math.min(...losses);
  const best = losses.findIndex((loss) => loss <= least + 1e-12 * Math.abs(least)) + 1;
  return { chosen: chosen.slice(0, best), losses: losses.slice(0, best) };
}

/** The position of the least loss; of equal ones that of a member, else the first. */
function leastOf(losses: readonly number[], members: ReadonlySet<number>): number {
  let best = 0;
  for (const [candidate, loss] of losses.entries()) {
    const isTie = loss === losses[best] && members.has(candidate) && !members.has(best);
    if (loss < losses[best] || isTie) best = candidate;
  }
  return best;
}

/**
 * A small subset whose mixture has an NLL of at most that of all candidates plus `tolerance`: leaves out, one after the
 * other, the candidate without which the NLL is least, as long as the tolerance allows it.
 *
 * @param logLikelihoods log p(y_n) of each candidate, C arrays of shape `[N]`
 * @param tolerance in nats
 * @returns positions of the candidates that stay, ascending
 */
export function smallestSubset(logLikelihoods: readonly Float64Array[], tolerance: number): number[] {
  return smallestByLoss(logLikelihoods, (rows) => nllOf(mixtureLogLikelihoods(rows)), tolerance);
}

/**
 * The same for any loss of an ensemble.
 *
 * @param rows what each candidate predicts
 * @param lossOf the ensemble of some of them; smaller is better
 * @param tolerance in the unit of the loss
 */
export function smallestByLoss(
  rows: readonly Float64Array[],
  lossOf: (rows: readonly Float64Array[]) => number,
  tolerance: number,
): number[] {
  const lossOfSubset = (subset: readonly number[]): number => lossOf(subset.map((candidate) => rows[candidate]));
  let kept = [...rows.keys()];
  const allowed = lossOfSubset(kept) + tolerance;
  while (kept.length > 1) {
    const without = kept.map((left) => kept.filter((candidate) => candidate !== left));
    const losses = without.map(lossOfSubset);
    const least = losses.indexOf(Math.min(...losses));
    if (!(losses[least] <= allowed)) break;
    kept = without[least];
  }
  return kept;
}
