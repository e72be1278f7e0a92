import type { PredictionData } from '../../../../protocol/rpc.ts';
import { meanOverMembers } from '../ensemble-metrics.ts';

/**
 * Regression metrics of kept predictions, with the formulas of `workers/metrics`. Legend: `M` members, `N` values predicted (samples
 * times targets a sample).
 */

const LOG_TWO_PI = Math.log(2 * Math.PI);

/** Means of M members and, where they predict them, variances, `[M, N]` each, with targets `[N]`. */
export interface ValueStack {
  ranks: number[];
  means: Float32Array;
  variances: Float32Array | null;
  targets: Float64Array;
}

/** An ensemble's prediction over one feature, by ascending feature, `[N]` each. */
export interface FeatureBand {
  feature: Float64Array;
  target: Float64Array;
  mean: Float64Array;
  /** Standard deviation of the noise that the members see; 0 where they predict none. */
  aleatoricStd: Float64Array;
  /** Standard deviation between the members. */
  epistemicStd: Float64Array;
}

export function valueStack({ ranks, outputs, targets }: PredictionData): ValueStack {
  return { ranks, means: outputs[0], variances: outputs.at(1) ?? null, targets: Float64Array.from(targets) };
}

/** Squared error of the ensemble's mean, `[N]`. */
export function squaredErrors({ means, ranks, targets }: ValueStack, without: number | null = null): Float64Array {
  return meanOverMembers(means, ranks.length, without).map((mean, index) => (mean - targets[index]) ** 2);
}

/** The mean of the members' variances, `[N]`; 0 where they predict none. */
export function aleatoricVariance({ variances, ranks, targets }: ValueStack): Float64Array {
  return variances === null ? new Float64Array(targets.length) : meanOverMembers(variances, ranks.length);
}

/** The unbiased variance of the members' means, 1/(M - 1) sum_m (mu_m - mean mu)^2, `[N]`; 0 for M = 1. */
export function epistemicVariance({ means, ranks, targets }: ValueStack): Float64Array {
  return meanOverMembers(means, ranks.length).map((center, index) => {
    let sum = 0;
    for (let member = 0; member < ranks.length; member++) sum += (means[member * targets.length + index] - center) ** 2;
    return sum / Math.max(ranks.length - 1, 1);
  });
}

/**
 * NLL in nats of the members as a uniformly weighted mixture of Gaussians, -1/N sum_n log(1/M sum_m N(y_n; mu_mn, v_mn)).
 *
 * Source: Lakshminarayanan, Pritzel and Blundell, NeurIPS 2017, section 2.4, without its approximation by one Gaussian.
 */
export function gaussianMixtureNll(
  { ranks, means, targets }: ValueStack,
  variances: Float32Array,
  without: number | null = null,
): number {
  const members = [...ranks.keys()].filter((member) => member !== without);
  const total = targets.reduce((sum, target, index) => {
    const logDensities = members.map((member) => {
      const place = member * targets.length + index;
      const variance = variances[place];
      return -0.5 * (LOG_TWO_PI + Math.log(variance) + (target - means[place]) ** 2 / variance);
    });
    return sum - logSumExp(logDensities) + Math.log(members.length);
  }, 0);
  return total / targets.length;
}

/**
 * What each member is worth to the others: the ensemble's error without it - the ensemble's error, `[M]`; NLL where variances are
 * predicted, MSE otherwise. Above 0 it helps; empty for a single member.
 */
export function marginalError(stack: ValueStack): number[] {
  if (stack.ranks.length === 1) return [];
  const { variances } = stack;
  const error = (without: number | null): number =>
    variances === null ? mean(squaredErrors(stack, without)) : gaussianMixtureNll(stack, variances, without);
  const complete = error(null);
  return stack.ranks.map((_, member) => error(member) - complete);
}

/** The ensemble over the only feature. @throws when there is not one feature value a predicted value */
export function featureBand(stack: ValueStack, feature: Float32Array): FeatureBand {
  if (feature.length !== stack.targets.length) {
    throw new Error(
      `${feature.length} feature values for ${stack.targets.length} predictions: the band needs one each, so draw it only for ` +
        'tasks with one feature and one target.',
    );
  }
  const order = [...feature.keys()].sort((left, right) => feature[left] - feature[right]);
  const ordered = (values: Float32Array | Float64Array) => Float64Array.from(order, (index) => values[index]);
  return {
    feature: ordered(feature),
    target: ordered(stack.targets),
    mean: ordered(meanOverMembers(stack.means, stack.ranks.length)),
    aleatoricStd: ordered(aleatoricVariance(stack)).map(Math.sqrt),
    epistemicStd: ordered(epistemicVariance(stack)).map(Math.sqrt),
  };
}

/** log sum_i exp(x_i), shifted by the largest so that nothing overflows. */
function logSumExp(values: readonly number[]): number {
  const largest = Math.max(...values);
  return largest + Math.log(values.reduce((sum, value) => sum + Math.exp(value - largest), 0));
}

function mean(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
