import { checkRanks } from './checks.ts';
import { expectedCalibrationError } from './calibration.ts';
import { accuracy, brierScore, negativeLogLikelihood } from './classification.ts';
import { disagreement } from './diversity.ts';
import { memberLogLikelihoods, mixtureNll, nllOf } from './likelihood.ts';
import {
  eachMember,
  mean,
  meanOverMembers,
  meanProbabilities,
  memberProbabilities,
  memberValues,
  productOfExperts,
} from './predictions.ts';
import {
  aleatoricVariance,
  averageMemberMse,
  ensembleGain,
  ensembleStd,
  epistemicVariance,
  gaussianMixtureNll,
  meanSquaredError,
  memberGaussianNlls,
} from './regression.ts';
import { entropy, expectedEntropy, mutualInformationOf } from './uncertainty.ts';
import type { Probabilities, StackedClasses, StackedValues, Values } from './stacks.ts';

/** Metric values by name, in order of presentation. Names have no split; callers prefix `val/` or `test/`. */
export type Metrics = Map<string, number>;

/**
 * All metrics of a classification ensemble: `ens_{nll, acc, ece, brier}` of the mean probabilities, `avg_member_nll`,
 * `ambiguity` (the Jensen gap), `disagreement`, `predictive_entropy` and `mutual_information` (means over the samples), and
 * `member_{rank}_{nll, acc, ece, brier}`. Metrics that depend on a non-finite prediction are NaN.
 *
 * @param stack probabilities or logits, shape `[M, N, K]`; for a binary task see `toTwoClasses` and `toTwoLogits`
 * @param targets class indices, shape `[N]`
 * @param ranks the rank of every member, shape `[M]`
 * @throws RangeError when shapes differ, a probability is outside [0, 1], a target outside [0, K), or ranks repeat
 */
export function classificationMetrics(stack: StackedClasses, targets: Int32Array, ranks: number[]): Metrics {
  checkRanks(ranks, stack.members);
  const ensemble = meanProbabilities(stack);
  const logarithms = memberLogLikelihoods(stack, targets);
  const memberNll = mean(logarithms.map(nllOf));
  const ensembleNll = mixtureNll(logarithms);
  const total = entropy(ensemble);
  return new Map([
    ...scores('ens', ensemble, targets, ensembleNll),
    ['avg_member_nll', memberNll],
    ['ambiguity', memberNll - ensembleNll],
    ['disagreement', disagreement(stack)],
    ['predictive_entropy', mean(total)],
    ['mutual_information', mean(mutualInformationOf(total, expectedEntropy(stack)))],
    ...ranks.flatMap((rank, member) => scores(`member_${rank}`, memberProbabilities(stack, member), targets)),
  ]);
}

/**
 * `product_{nll, acc, ece, brier}`: of the product of experts, the joint prediction of members that were trained jointly.
 *
 * @param stack probabilities or logits, shape `[M, N, K]`
 * @param targets class indices, shape `[N]`
 */
export function productMetrics(stack: StackedClasses, targets: Int32Array): Metrics {
  return new Map(scores('product', productOfExperts(stack), targets));
}

/**
 * All metrics of a regression ensemble: `ens_mse`, `avg_member_mse`, `ensemble_gain`, `ens_std`, `member_{rank}_mse`;
 * with variances also `ens_nll` (of the mixture), `avg_member_nll`, `ambiguity` (the Jensen gap), `aleatoric` and `epistemic`
 * (means over the samples) and `member_{rank}_nll`. Metrics that depend on a non-finite prediction are NaN.
 *
 * @param means shape `[M, N]`
 * @param variances shape `[M, N]`, or null where the members predict none
 * @param targets shape `[N]`
 * @param ranks the rank of every member, shape `[M]`
 * @throws RangeError when shapes differ, a variance is negative, or ranks repeat
 */
export function regressionMetrics(
  means: StackedValues,
  variances: StackedValues | null,
  targets: Values,
  ranks: number[],
): Metrics {
  checkRanks(ranks, means.members);
  const memberMses = eachMember(means.members, (member) => meanSquaredError(memberValues(means, member), targets));
  return new Map([
    ['ens_mse', meanSquaredError(meanOverMembers(means), targets)],
    ['avg_member_mse', averageMemberMse(means, targets)],
    ['ensemble_gain', ensembleGain(means, targets)],
    ['ens_std', ensembleStd(means)],
    ...ranks.map((rank, member): Metric => [`member_${rank}_mse`, memberMses[member]]),
    ...(variances === null ? [] : gaussianMetrics(means, variances, targets, ranks)),
  ]);
}

type Metric = [name: string, value: number];

function scores(
  name: string,
  probabilities: Probabilities,
  targets: Int32Array,
  nll = negativeLogLikelihood(probabilities, targets),
): Metric[] {
  return [
    [`${name}_nll`, nll],
    [`${name}_acc`, accuracy(probabilities, targets)],
    [`${name}_ece`, expectedCalibrationError(probabilities, targets)],
    [`${name}_brier`, brierScore(probabilities, targets)],
  ];
}

function gaussianMetrics(means: StackedValues, variances: StackedValues, targets: Values, ranks: number[]): Metric[] {
  const memberNlls = memberGaussianNlls(means, variances, targets);
  const ensembleNll = gaussianMixtureNll(means, variances, targets);
  return [
    ['ens_nll', ensembleNll],
    ['avg_member_nll', mean(memberNlls)],
    ['ambiguity', mean(memberNlls) - ensembleNll],
    ['aleatoric', mean(aleatoricVariance(variances))],
    ['epistemic', mean(epistemicVariance(means))],
    ...ranks.map((rank, member): Metric => [`member_${rank}_nll`, memberNlls[member]]),
  ];
}
