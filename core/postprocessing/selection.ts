import { mixtureLogLikelihoods, nllOf } from '../metrics/likelihood.ts';

/** Members of an ensemble, chosen from candidates. */
export interface Selection {
  /** Positions of the chosen candidates in the order of choice; one that repeats has more weight. */
  chosen: number[];
  /** NLL of the mixture after each choice, in nats. */
  nlls: number[];
}

/**
 * Greedy selection with replacement: in each round, adds the candidate with which the mixture of all chosen ones has the least NLL on held-out
 * samples, then keeps the rounds up to the best one. Of equally good candidates it takes one that is already a member, which costs no further
 * prediction, and else the first.
 *
 * Source: Caruana, Niculescu-Mizil, Crew and Ksikes, "Ensemble selection from libraries of models", ICML 2004; 25 rounds as in AutoGluon
 * (Erickson et al., 2020).
 *
 * @param logLikelihoods log p(y_n) of each candidate, C arrays of shape `[N]`
 * @param rounds most choices
 * @throws RangeError without candidates
 */
export function selectGreedily(logLikelihoods: readonly Float64Array[], rounds = 25): Selection {
  if (logLikelihoods.length === 0)
    throw new RangeError('There is no candidate to choose: name checkpoints of one run or more.');
  const likelihoods = logLikelihoods.map((row) => row.map(Math.exp));
  const sum = new Float64Array(logLikelihoods[0].length);
  const chosen: number[] = [];
  const nlls: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    const found = bestAddition(likelihoods, sum, round, chosen);
    chosen.push(found.candidate);
    nlls.push(found.nll);
    likelihoods[found.candidate].forEach((value, sample) => (sum[sample] += value));
  }
  // Rounding must not make a longer prefix better than one with the same weights.
  const least = Math.min(...nlls);
  const best = nlls.findIndex((nll) => nll <= least + 1e-12 * Math.abs(least)) + 1;
  return { chosen: chosen.slice(0, best), nlls: nlls.slice(0, best) };
}

function bestAddition(
  likelihoods: readonly Float64Array[],
  sum: Float64Array,
  round: number,
  chosen: readonly number[],
): { candidate: number; nll: number } {
  const members = new Set(chosen);
  let best = { candidate: 0, nll: Infinity };
  for (const [candidate, row] of likelihoods.entries()) {
    const nll = nllOf(row.map((value, sample) => Math.log((sum[sample] + value) / round)));
    const isTie = nll === best.nll && members.has(candidate) && !members.has(best.candidate);
    if (nll < best.nll || isTie) best = { candidate, nll };
  }
  return best;
}

/**
 * A small subset whose mixture has an NLL of at most that of all candidates plus `tolerance`: leaves out, one after the other, the candidate
 * without which the NLL is least, as long as the tolerance allows it.
 *
 * @param logLikelihoods log p(y_n) of each candidate, C arrays of shape `[N]`
 * @param tolerance in nats
 * @returns positions of the candidates that stay, ascending
 */
export function smallestSubset(logLikelihoods: readonly Float64Array[], tolerance: number): number[] {
  const nllOfSubset = (subset: readonly number[]): number =>
    nllOf(mixtureLogLikelihoods(subset.map((candidate) => logLikelihoods[candidate])));
  let kept = [...logLikelihoods.keys()];
  const allowed = nllOfSubset(kept) + tolerance;
  while (kept.length > 1) {
    const without = kept.map((left) => kept.filter((candidate) => candidate !== left));
    const nlls = without.map(nllOfSubset);
    const least = nlls.indexOf(Math.min(...nlls));
    if (!(nlls[least] <= allowed)) break;
    kept = without[least];
  }
  return kept;
}
