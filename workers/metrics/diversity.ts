import { allFinite } from './checks.ts';
import { mostProbableClass, negativeLogLikelihood } from './classification.ts';
import { eachMember, mean, meanProbabilities, memberProbabilities, type StackedProbabilities } from './predictions.ts';

/**
 * Share of samples on which the members do not all choose the same class: from 0 to 1. As `val/disagreement` in
 * torch-distributed-ensemble.
 */
export function disagreement(stack: StackedProbabilities): number {
  const [first, ...others] = chosenClasses(stack);
  if (!allFinite(stack.values)) return NaN;
  const disputed = first.filter((chosen, sample) => others.some((other) => other[sample] !== chosen));
  return disputed.length / stack.samples;
}

/**
 * Share of samples on which two members choose different classes, for every pair, shape `[M, M]`: symmetric, with 0 on
 * the diagonal. NaN for the pairs of a member whose probabilities are not all finite.
 */
export function pairwiseDisagreement(stack: StackedProbabilities): Float64Array {
  const { members, samples } = stack;
  const chosen = chosenClasses(stack);
  const finite = eachMember(members, (member) => allFinite(memberProbabilities(stack, member).values));
  return Float64Array.from({ length: members * members }, (_, pair) => {
    const left = Math.floor(pair / members);
    const right = pair % members;
    if (!finite[left] || !finite[right]) return NaN;
    return chosen[left].filter((label, sample) => label !== chosen[right][sample]).length / samples;
  });
}

/** Mean of the members' NLLs, 1/M sum_m NLL(p_m), in nats. What one member does on average, alone. */
export function averageMemberNll(stack: StackedProbabilities, targets: Int32Array): number {
  return mean(
    eachMember(stack.members, (member) => negativeLogLikelihood(memberProbabilities(stack, member), targets)),
  );
}

/**
 * What diversity buys, in nats: mean member NLL - ensemble NLL. Never negative beyond rounding, as -log is convex
 * (Jensen); 0 for identical members.
 *
 * @param targets class indices, shape `[N]`
 * @throws RangeError when shapes differ, a probability is outside [0, 1] or a target outside [0, K)
 */
export function ambiguity(stack: StackedProbabilities, targets: Int32Array): number {
  return averageMemberNll(stack, targets) - negativeLogLikelihood(meanProbabilities(stack), targets);
}

function chosenClasses(stack: StackedProbabilities): Int32Array[] {
  return eachMember(stack.members, (member) => mostProbableClass(memberProbabilities(stack, member)));
}
