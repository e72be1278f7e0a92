import { logLikelihoods, memberLogLikelihoods, mixtureLogLikelihoods, withEpsilon } from '../likelihood.ts';
import { meanProbabilities, memberProbabilities, productOfExperts } from '../predictions.ts';
import type { Probabilities, StackedClasses } from '../stacks.ts';
import type { WeightedClasses } from '../weights.ts';
import type { LikelihoodEvaluation, LikelihoodPrediction } from './member-nll.ts';

/** What a classifier predicts for a split. */
export interface ClassPrediction extends LikelihoodPrediction {
  /** Shape `[N, K]`. */
  probabilities: Probabilities;
  /** Class indices, shape `[N]`. */
  targets: Int32Array;
}

/** Classifiers of the same split. */
export interface ClassEvaluation extends LikelihoodEvaluation<ClassPrediction> {
  stack: StackedClasses;
}

/**
 * @param classes the stack of probabilities or logits, shape `[M, N, K]`, with the targets of the samples that count
 * @param ranks the rank of every member, shape `[M]`
 * @param nllEpsilon what the NLL adds to each probability before its logarithm; 0: exact
 * @throws RangeError when shapes differ, a probability is outside [0, 1] or a target outside [0, K)
 */
export function classEvaluation(
  { stack, targets, weights }: WeightedClasses,
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
    ensemble: { probabilities: ensemble, logLikelihoods: logarithms, targets, weights },
    member: (position) => ({
      probabilities: memberProbabilities(stack, position),
      logLikelihoods: ofMembers[position],
      targets,
      weights,
    }),
  };
}

/** The product of experts, the joint prediction of members that were trained jointly. */
export function productPrediction({ stack, targets, weights }: WeightedClasses, nllEpsilon = 0): ClassPrediction {
  const probabilities = productOfExperts(stack);
  const logarithms = withEpsilon(logLikelihoods(probabilities, targets), nllEpsilon);
  return { probabilities, logLikelihoods: logarithms, targets, weights };
}
