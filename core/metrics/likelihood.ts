import { checkClassification } from './checks.ts';
import { eachMember, memberProbabilities } from './predictions.ts';
import type { Probabilities, StackedClasses } from './stacks.ts';
import { weightedMean, type Weights } from './weights.ts';

/**
 * Logarithm of the probability of every sample's target, log p[n, y_n], shape `[N]`; all NaN if a probability is not
 * finite. A probability of 0 gives -Infinity, as in PyTorch: no epsilon is added.
 *
 * @param targets class indices, shape `[N]`
 * @throws RangeError when shapes differ, a probability is outside [0, 1] or a target outside [0, K)
 */
export function logLikelihoods(probabilities: Probabilities, targets: Int32Array): Float64Array {
  const logarithms = new Float64Array(targets.length).fill(NaN);
  if (!checkClassification(probabilities, targets)) return logarithms;
  const { classes, values, logValues } = probabilities;
  for (let sample = 0; sample < targets.length; sample++) {
    const index = sample * classes + targets[sample];
    logarithms[sample] = logValues?.[index] ?? Math.log(values[index]);
  }
  return logarithms;
}

/** Log-likelihoods log p_m[n, y_n] of every member, in nats: M arrays of shape `[N]`. */
export function memberLogLikelihoods(stack: StackedClasses, targets: Int32Array): Float64Array[] {
  return eachMember(stack.members, (member) => logLikelihoods(memberProbabilities(stack, member), targets));
}

/** -1/N sum_n log p_n, in nats; with weights -sum_n w_n log p_n / sum_n w_n. */
export function nllOf(logarithms: Float64Array, weights?: Weights): number {
  // 0 - x, not -x: a prediction that is certain and right then has an NLL of 0, not -0.
  return 0 - weightedMean(logarithms, weights);
}

/**
 * NLL in nats of the uniformly weighted mixture of the members, -1/N sum_n log(1/M sum_m exp(l[m, n])). Log-sum-exp
 * keeps likelihoods that are too small for a double. NaN if any member's likelihood is NaN.
 *
 * @param logarithms l, the logarithms of every member's likelihoods: M arrays of shape `[N]`
 * @param without the index of a member to leave out
 */
export function mixtureNll(logarithms: readonly Float64Array[], without: number | null = null): number {
  return nllOf(mixtureLogLikelihoods(logarithms.filter((_, member) => member !== without)));
}

/** log(1/M sum_m exp(l[m, n])) of M arrays of shape `[N]`, shape `[N]`; see {@link mixtureNll}. */
export function mixtureLogLikelihoods(members: readonly Float64Array[]): Float64Array {
  const logMembers = Math.log(members.length);
  return members[0].map((_, sample) => logSumExp(members, sample) - logMembers);
}

/** log(p + ε) from log p, for the NLL of `metrics.nllEpsilon`. */
export function withEpsilon(logarithms: Float64Array, epsilon: number): Float64Array {
  return epsilon === 0 ? logarithms : logarithms.map((logarithm) => Math.log(Math.exp(logarithm) + epsilon));
}

/**
 * What each member adds to the ensemble, in nats: the mixture's NLL without it minus the mixture's NLL, shape `[M]`;
 * empty for M = 1.
 */
export function marginalNlls(logarithms: readonly Float64Array[]): number[] {
  if (logarithms.length === 1) return [];
  const whole = mixtureNll(logarithms);
  return logarithms.map((_, member) => mixtureNll(logarithms, member) - whole);
}

/** log sum_m exp(l[m, n]), shifted by the largest so that nothing overflows. */
function logSumExp(members: readonly Float64Array[], sample: number): number {
  let largest = -Infinity;
  for (const logarithms of members) largest = Math.max(largest, logarithms[sample]);
  if (largest === -Infinity) return largest;
  let sum = 0;
  for (const logarithms of members) sum += Math.exp(logarithms[sample] - largest);
  return largest + Math.log(sum);
}
