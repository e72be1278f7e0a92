import { checkSameShape, checkShape, checkVariances } from './checks.ts';
import { mixtureNll, nllOf } from './likelihood.ts';
import { eachMember, mean, meanOverMembers, memberValues } from './predictions.ts';
import type { StackedValues, Values } from './stacks.ts';
import { totalWeight, weightedMean, type Weights } from './weights.ts';

/** Natural logarithm of 2 pi. */
const LOG_TWO_PI = Math.log(2 * Math.PI);

/**
 * Mean squared error, 1/N sum_n (prediction_n - y_n)^2.
 *
 * @param predictions of one member, or the ensemble's mean, shape `[N]`
 * @param targets shape `[N]`
 * @param weights shape `[N]`
 * @throws RangeError when shapes differ
 */
export function meanSquaredError(predictions: Values, targets: Values, weights?: Weights): number {
  checkShape('targets', targets, [predictions.length]);
  let sum = 0;
  for (let sample = 0; sample < predictions.length; sample++) {
    const weight = weights?.[sample] ?? 1;
    if (weight !== 0) sum += weight * (predictions[sample] - targets[sample]) ** 2;
  }
  return finiteOrNaN(sum / totalWeight(predictions.length, weights));
}

/** Mean of the members' errors, 1/M sum_m MSE(mu_m). The expected error of a single member. */
export function averageMemberMse(means: StackedValues, targets: Values, weights?: Weights): number {
  return mean(eachMember(means.members, (member) => meanSquaredError(memberValues(means, member), targets, weights)));
}

/**
 * Average member MSE - ensemble MSE: the members' mean squared distance from their mean, so never negative beyond
 * rounding (Krogh and Vedelsby, "Neural network ensembles, cross validation, and active learning", NIPS 1994).
 */
export function ensembleGain(means: StackedValues, targets: Values, weights?: Weights): number {
  return averageMemberMse(means, targets, weights) - meanSquaredError(meanOverMembers(means), targets, weights);
}

/**
 * Mean over the samples of the members' sample standard deviation: `preds.std(dim=0).mean()` in PyTorch; 0 for M = 1.
 */
export function ensembleStd(means: StackedValues, weights?: Weights): number {
  return weightedMean(unbiasedVariance(means).map(Math.sqrt), weights);
}

/**
 * Negative log-likelihood in nats of one Gaussian per sample, 1/N sum_n (log(2 pi v_n) + (y_n - mu_n)^2 / v_n) / 2,
 * with all constants. A variance of 0 gives NaN: there is no density.
 *
 * @param means shape `[N]`
 * @param variances shape `[N]`
 * @param targets shape `[N]`
 * @throws RangeError when shapes differ or a variance is negative
 */
export function gaussianNll(means: Values, variances: Values, targets: Values): number {
  return nllOf(gaussianLogDensities(means, variances, targets));
}

/** log N(y_n; mu_n, v_n), shape `[N]`; arguments and errors are those of {@link gaussianNll}. */
export function gaussianLogDensities(means: Values, variances: Values, targets: Values): Float64Array {
  checkShape('variances', variances, [means.length]);
  checkShape('targets', targets, [means.length]);
  checkVariances(variances);
  return Float64Array.from(targets, (target, sample) => logDensity(target, means[sample], variances[sample]));
}

/** Log-densities log N(y_n; mu_mn, v_mn) of every member, in nats: M arrays of shape `[N]`. */
export function memberGaussianLogDensities(
  means: StackedValues,
  variances: StackedValues,
  targets: Values,
): Float64Array[] {
  checkSameShape(means, variances);
  return eachMember(means.members, (member) =>
    gaussianLogDensities(memberValues(means, member), memberValues(variances, member), targets),
  );
}

/** The Gaussian NLL of every member, in nats, shape `[M]`. */
export function memberGaussianNlls(means: StackedValues, variances: StackedValues, targets: Values): number[] {
  return memberGaussianLogDensities(means, variances, targets).map((logarithms) => nllOf(logarithms));
}

/**
 * Negative log-likelihood in nats of the ensemble as a uniformly weighted mixture of Gaussians, -1/N sum_n log(1/M
 * sum_m N(y_n; mu_mn, v_mn)), by log-sum-exp. At most the mean of the members' NLLs (Jensen).
 *
 * Source: Lakshminarayanan, Pritzel and Blundell (2017), section 2.4. They approximate the mixture by one Gaussian;
 * this function does not.
 *
 * @param means shape `[M, N]`
 * @param variances shape `[M, N]`
 * @param targets shape `[N]`
 * @throws RangeError when shapes differ or a variance is negative
 */
export function gaussianMixtureNll(means: StackedValues, variances: StackedValues, targets: Values): number {
  return mixtureNll(memberGaussianLogDensities(means, variances, targets));
}

/**
 * Aleatoric variance, the noise that the members see in the data: the mean of their variances, 1/M sum_m v_m, shape
 * `[N]`.
 */
export function aleatoricVariance(variances: StackedValues): Float64Array {
  checkVariances(variances.values);
  return meanOverMembers(variances).map(finiteOrNaN);
}

/**
 * Epistemic variance, what the spread of the members adds to the variance of their mixture: 1/M sum_m (mu_m - mean
 * mu)^2, shape `[N]`; 0 for M = 1. The square of `epistemic` in predictions.
 *
 * Source: Lakshminarayanan, Pritzel and Blundell (2017), section 2.4.
 */
export function epistemicVariance(means: StackedValues): Float64Array {
  return squaresOverMembers(means, means.members);
}

/**
 * The unbiased variance of the members' means, 1/(M - 1) sum_m (mu_m - mean mu)^2, shape `[N]`; 0 for M = 1. Equals
 * `torch.var`.
 */
export function unbiasedVariance(means: StackedValues): Float64Array {
  // At least 1: a single member's deviation is 0, or NaN where its mean is not finite, and dividing must not change
  // that.
  return squaresOverMembers(means, Math.max(means.members - 1, 1));
}

function squaresOverMembers(means: StackedValues, divisor: number): Float64Array {
  const { members, samples, values } = means;
  return meanOverMembers(means).map((center, sample) => {
    let sum = 0;
    for (let member = 0; member < members; member++) sum += (values[member * samples + sample] - center) ** 2;
    return finiteOrNaN(sum / divisor);
  });
}

/**
 * Aleatoric + epistemic variance, that of the mixture, shape `[N]`: the square of `standard_deviation` in predictions
 * before calibration.
 */
export function totalVariance(means: StackedValues, variances: StackedValues): Float64Array {
  checkSameShape(means, variances);
  const epistemic = epistemicVariance(means);
  return aleatoricVariance(variances).map((aleatoric, sample) => aleatoric + epistemic[sample]);
}

/** log N(y; mu, v). NaN where it is infinite: a density of 0 would silently drop a broken member from a mixture. */
function logDensity(target: number, center: number, variance: number): number {
  return finiteOrNaN(-0.5 * (LOG_TWO_PI + Math.log(variance) + (target - center) ** 2 / variance));
}

function finiteOrNaN(value: number): number {
  return Number.isFinite(value) ? value : NaN;
}
