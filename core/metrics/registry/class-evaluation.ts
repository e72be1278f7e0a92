import { logLikelihoods, memberLogLikelihoods, mixtureLogLikelihoods } from '../likelihood.ts';
import { meanProbabilities, memberProbabilities, productOfExperts } from '../predictions.ts';
import type { Probabilities, StackedClasses } from '../stacks.ts';
import type { Evaluation } from './metric.ts';

/** What a classifier predicts for a split. */
export interface ClassPrediction {
  /** Shape `[N, K]`. */
  probabilities: Probabilities;
  /** log p[n, y_n] in nats, shape `[N]`. */
  logLikelihoods: Float64Array;
  /** Class indices, shape `[N]`. */
  targets: Int32Array;
}

/** Classifiers of the same split. */
export interface ClassEvaluation extends Evaluation<ClassPrediction> {
  stack: StackedClasses;
  /** log p_m[n, y_n] of every member, in nats: M arrays of shape `[N]`. */
  logLikelihoods: readonly Float64Array[];
}

/**
 * @param stack probabilities or logits, shape `[M, N, K]`
 * @param targets class indices, shape `[N]`
 * @param ranks the rank of every member, shape `[M]`
 * @param nllEpsilon what the NLL adds to each probability before its logarithm; 0: exact
 * @throws RangeError when shapes differ, a probability is outside [0, 1] or a target outside [0, K)
 */
export function classEvaluation(
  stack: StackedClasses,
  targets: Int32Array,
  ranks: readonly number[],
  nllEpsilon = 0,
): ClassEvaluation {
  const exact = memberLogLikelihoods(stack, targets);
  const ensemble = meanProbabilities(stack);
  const ofMembers = exact.map((logarithms) => withEpsilon(logarithms, nllEpsilon));
  const logarithms =
    nllEpsilon === 0 ? mixtureLogLikelihoods(exact) : withEpsilon(logLikelihoods(ensemble, targets), nllEpsilon);
  return {
    stack,
    ranks,
    logLikelihoods: ofMembers,
    ensemble: { probabilities: ensemble, logLikelihoods: logarithms, targets },
    member: (position) => ({
      probabilities: memberProbabilities(stack, position),
      logLikelihoods: ofMembers[position],
      targets,
    }),
  };
}

/** The product of experts, the joint prediction of members that were trained jointly. */
export function productPrediction(stack: StackedClasses, targets: Int32Array, nllEpsilon = 0): ClassPrediction {
  const probabilities = productOfExperts(stack);
  return { probabilities, logLikelihoods: withEpsilon(logLikelihoods(probabilities, targets), nllEpsilon), targets };
}

/** log(p + ε) from log p. */
function withEpsilon(logarithms: Float64Array, epsilon: number): Float64Array {
  return epsilon === 0 ? logarithms : logarithms.map((logarithm) => Math.log(Math.exp(logarithm) + epsilon));
}
