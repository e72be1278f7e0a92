import type { Combination } from './combination.ts';
import { classEvaluation, productPrediction } from './registry/class-evaluation.ts';
import { classMetrics, ordinalOnly } from './registry/class-metrics.ts';
import { countEvaluation, countMetrics, countProduct } from './registry/count-metrics.ts';
import { labelEvaluation, labelMetrics, labelProduct } from './registry/label-metrics.ts';
import { gaussianEvaluation, gaussianMetrics } from './registry/gaussian-metrics.ts';
import { chosenMetrics, evaluateMetrics, type Metrics } from './registry/metric.ts';
import { quantileEvaluation, quantileMetrics } from './registry/quantile-metrics.ts';
import { valueEvaluation, valueMetrics } from './registry/value-metrics.ts';
import type { StackedClasses, StackedLogits, StackedValues, Values } from './stacks.ts';
import { checkedWeights, countedSamples, type Weights } from './weights.ts';

export type { Metrics };

/** Which metrics to compute beside the standard ones, and how. */
export interface MetricOptions {
  /** Names of metrics that are not standard: `auroc`, `crps`. Those of other tasks are ignored. */
  more?: readonly string[];
  /** What the NLL of classes and labels adds to each probability before its logarithm; 0 by default: exact. */
  nllEpsilon?: number;
  /**
   * How the members answer; `mean` by default. With `product`, its scores follow (`product_nll`), and what compares the
   * ensemble with its members compares it.
   */
  combination?: Combination;
  /** In the shape of the targets; targets of weight 0 do not count. Without them all count alike. */
  weights?: Weights;
}

/**
 * The metrics of a classification ensemble: the scores of the mean probabilities (`ens_nll`), those of each member
 * (`member_3_nll`), and values of the ensemble (`disagreement`). Metrics that depend on a non-finite prediction are
 * NaN.
 *
 * @param stack probabilities or logits, shape `[M, N, K]`; for a binary task see `toTwoClasses` and `toTwoLogits`
 * @param targets class indices, shape `[N]`
 * @param ranks the rank of every member, shape `[M]`
 * @param task `ordinal` for ordered classes, which have more metrics
 * @throws RangeError when shapes differ, a probability is outside [0, 1], a target outside [0, K), or ranks repeat
 */
export function classificationMetrics(
  stack: StackedClasses,
  targets: Int32Array,
  ranks: number[],
  { more = [], nllEpsilon, combination, weights }: MetricOptions = {},
  task: 'classification' | 'ordinal' = 'classification',
): Metrics {
  const metrics = task === 'ordinal' ? [...classMetrics, ...ordinalOnly] : classMetrics;
  const counted = countedSamples(stack, targets, weights);
  const mean = classEvaluation(counted, ranks, nllEpsilon);
  const evaluation = combination === 'product' ? { ...mean, product: productPrediction(counted, nllEpsilon) } : mean;
  return evaluateMetrics(chosenMetrics(metrics, more), evaluation, stack.members);
}

/**
 * The metrics of a regression ensemble: the scores of the mean of the means (`ens_mse`), those of each member
 * (`member_3_mse`), and values of the ensemble (`ensemble_gain`); with variances also those of the mixture of Gaussians
 * (`ens_nll`, `aleatoric_variance`). Metrics that depend on a non-finite prediction are NaN.
 *
 * @param means shape `[M, N]`, in which several targets of a sample follow each other
 * @param variances shape `[M, N]`, or null where the members predict none
 * @param targets shape `[N]`
 * @param ranks the rank of every member, shape `[M]`
 * @param columns T, targets of a sample; 1 by default
 * @throws RangeError when shapes differ, a variance is negative, or ranks repeat
 */
export function regressionMetrics(
  means: StackedValues,
  variances: StackedValues | null,
  targets: Values,
  ranks: number[],
  { more = [], columns = 1, ...options }: MetricOptions & { columns?: number } = {},
): Metrics {
  const weights = checkedWeights(options.weights, targets.length);
  if (variances === null) {
    const evaluation = valueEvaluation(means, targets, ranks, columns, weights);
    return evaluateMetrics(chosenMetrics(valueMetrics, more), evaluation, means.members);
  }
  const evaluation = gaussianEvaluation(means, variances, targets, ranks, columns, weights);
  return evaluateMetrics(chosenMetrics(gaussianMetrics, more), evaluation, means.members);
}

/**
 * The metrics of a multi-label ensemble, which predicts the mean of its members' probabilities.
 *
 * @param stack a logit for each label, shape `[M, N, L]`
 * @param targets 0 or 1, shape `[N, L]`
 * @param ranks the rank of every member, shape `[M]`
 */
export function labelEnsembleMetrics(
  stack: StackedLogits,
  targets: ArrayLike<number>,
  ranks: number[],
  { more = [], nllEpsilon, combination, ...options }: MetricOptions = {},
): Metrics {
  const weights = checkedWeights(options.weights, targets.length);
  const mean = labelEvaluation(stack, targets, ranks, weights, nllEpsilon);
  const product = combination === 'product' && { product: labelProduct(stack, targets, weights, nllEpsilon) };
  const evaluation = { ...mean, ...product };
  return evaluateMetrics(chosenMetrics(labelMetrics, more), evaluation, stack.members);
}

/**
 * The metrics of an ensemble of Poisson regressions, which is the uniformly weighted mixture of their distributions.
 *
 * @param rates shape `[M, N]`, in which several targets of a sample follow each other
 * @param counts whole numbers from 0, shape `[N]`
 * @param ranks the rank of every member, shape `[M]`
 * @param columns T, targets of a sample; 1 by default
 */
export function countEnsembleMetrics(
  rates: StackedValues,
  counts: Values,
  ranks: number[],
  { more = [], columns = 1, combination, ...options }: MetricOptions & { columns?: number } = {},
): Metrics {
  const weights = checkedWeights(options.weights, counts.length);
  const mean = countEvaluation(rates, counts, ranks, columns, weights);
  const evaluation =
    combination === 'product' ? { ...mean, product: countProduct(rates, counts, columns, weights) } : mean;
  return evaluateMetrics(chosenMetrics(countMetrics, more), evaluation, rates.members);
}

/**
 * The metrics of an ensemble of quantile regressions, which predicts the mean of its members' quantiles.
 *
 * @param stack shape `[M, N · Q]`, the quantiles of a sample together
 * @param targets shape `[N]`
 * @param ranks the rank of every member, shape `[M]`
 * @param levels of the quantiles in (0, 1), ascending, shape `[Q]`
 */
export function quantileEnsembleMetrics(
  stack: StackedValues,
  targets: Values,
  ranks: number[],
  levels: readonly number[],
  { more = [], weights }: MetricOptions = {},
): Metrics {
  const evaluation = quantileEvaluation(stack, targets, ranks, levels, checkedWeights(weights, targets.length));
  return evaluateMetrics(chosenMetrics(quantileMetrics, more), evaluation, stack.members);
}
