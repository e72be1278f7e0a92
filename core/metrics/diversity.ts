import { allFinite } from './checks.ts';
import { mostProbableClass } from './classification.ts';
import { memberLogLikelihoods, mixtureNll, nllOf } from './likelihood.ts';
import { eachMember, mean, memberProbabilities } from './predictions.ts';
import type { StackedClasses } from './stacks.ts';
import { weightedMean, type Weights } from './weights.ts';

/**
 * Share of samples on which two members choose different classes, averaged over all pairs of members: from 0 to 1; 0
 * for one member. NaN if a member's probabilities are not all finite.
 */
export function disagreement(stack: StackedClasses, weights?: Weights): number {
  const { members } = stack;
  if (members === 1) return chosenClasses(stack).includes(null) ? NaN : 0;
  return pairwiseDisagreement(stack, weights).reduce((sum, share) => sum + share, 0) / (members * (members - 1));
}

/**
 * Share of samples on which the members do not all choose the same class: from 0 to 1. Equals `val/disagreement` of
 * torch-distributed-ensemble.
 */
export function shareNotUnanimous(stack: StackedClasses, weights?: Weights): number {
  const chosen = chosenClasses(stack);
  if (chosen.includes(null)) return NaN;
  const [first, ...others] = chosen.filter((labels) => labels !== null);
  const isDisputed = first.map((chosen, sample) => (others.some((other) => other[sample] !== chosen) ? 1 : 0));
  return weightedMean(isDisputed, weights);
}

/**
 * Share of samples on which two members choose different classes, for every pair, shape `[M, M]`: symmetric, with 0 on
 * the diagonal. NaN for the pairs of a member whose probabilities are not all finite.
 */
export function pairwiseDisagreement(stack: StackedClasses, weights?: Weights): Float64Array {
  const { members } = stack;
  const chosen = chosenClasses(stack);
  return Float64Array.from({ length: members * members }, (_, pair) => {
    const left = chosen[Math.floor(pair / members)];
    const right = chosen[pair % members];
    if (left === null || right === null) return NaN;
    return weightedMean(
      left.map((label, sample) => (label === right[sample] ? 0 : 1)),
      weights,
    );
  });
}

/** Mean of the members' NLLs, 1/M sum_m NLL(p_m), in nats. The expected NLL of a single member. */
export function averageMemberNll(stack: StackedClasses, targets: Int32Array): number {
  return mean(memberLogLikelihoods(stack, targets).map((logarithms) => nllOf(logarithms)));
}

/**
 * The Jensen gap, in nats: mean member NLL - ensemble NLL, the gain from diversity. Never negative beyond rounding,
 * since -log is convex; 0 for identical members. Recorded as the metric `ambiguity`.
 *
 * @param targets class indices, shape `[N]`
 * @throws RangeError when shapes differ, a probability is outside [0, 1] or a target outside [0, K)
 */
export function jensenGap(stack: StackedClasses, targets: Int32Array): number {
  const logarithms = memberLogLikelihoods(stack, targets);
  return mean(logarithms.map((ofMember) => nllOf(ofMember))) - mixtureNll(logarithms);
}

/** The most probable classes of every member; null for a member whose probabilities are not all finite. */
function chosenClasses(stack: StackedClasses): (Int32Array | null)[] {
  return eachMember(stack.members, (member) => {
    const probabilities = memberProbabilities(stack, member);
    return allFinite(probabilities.values) ? mostProbableClass(probabilities) : null;
  });
}
