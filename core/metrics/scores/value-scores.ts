import { checkShape } from '../checks.ts';
import { mean } from '../predictions.ts';
import type { Values } from '../stacks.ts';
import { weightedMean, type Weights } from '../weights.ts';

/**
 * Mean absolute error, 1/N sum_n |prediction_n - y_n|.
 *
 * @param predictions shape `[N]`
 * @param targets shape `[N]`
 * @param weights shape `[N]`
 */
export function meanAbsoluteError(predictions: Values, targets: Values, weights?: Weights): number {
  checkShape('targets', targets, [predictions.length]);
  const errors = Float64Array.from(targets, (target, sample) => Math.abs(predictions[sample] - target));
  return finiteOrNaN(weightedMean(errors, weights));
}

/**
 * R², 1 - sum_n (prediction_n - y_n)^2 / sum_n (y_n - mean y)^2, averaged over the columns of targets. At most 1; 0 for
 * a prediction of the mean. NaN if the targets of a column are all equal. A column that is masked throughout does not
 * count.
 *
 * @param predictions shape `[N, T]`
 * @param targets shape `[N, T]`
 * @param columns T
 * @param weights shape `[N, T]`
 */
export function determination(predictions: Values, targets: Values, columns: number, weights?: Weights): number {
  checkShape('targets', targets, [predictions.length / columns, columns]);
  const ofColumns = Array.from({ length: columns }, (_, column) => {
    const isOwn = (_value: number, index: number): boolean => index % columns === column;
    const own = weights?.filter(isOwn);
    return own?.every((weight) => weight === 0) ? [] : ofColumn(predictions.filter(isOwn), targets.filter(isOwn), own);
  });
  return mean(ofColumns.flat());
}

function ofColumn(predictions: Values, targets: Values, weights?: Weights): number {
  const center = weightedMean(targets, weights);
  let [residual, total] = [0, 0];
  // The weighted mean of equal targets is rounded, and their variance would be that rounding.
  let [smallest, largest] = [Infinity, -Infinity];
  for (let sample = 0; sample < targets.length; sample++) {
    const weight = weights?.[sample] ?? 1;
    if (weight === 0) continue;
    residual += weight * (predictions[sample] - targets[sample]) ** 2;
    total += weight * (targets[sample] - center) ** 2;
    smallest = Math.min(smallest, targets[sample]);
    largest = Math.max(largest, targets[sample]);
  }
  return smallest === largest ? NaN : finiteOrNaN(1 - residual / total);
}

function finiteOrNaN(value: number): number {
  return Number.isFinite(value) ? value : NaN;
}

/** Predicted quantiles. */
export interface Quantiles {
  /** Shape `[N, Q]`. */
  values: Values;
  /** The levels, ascending, each in (0, 1); shape `[Q]`. */
  levels: readonly number[];
}

/**
 * Pinball loss, 1/(N·Q) Σ_n Σ_q max(q e, (q - 1) e) with e = y_n - value_nq: from 0 up, in the unit of the targets. NaN
 * where a value is not finite.
 *
 * Source: Koenker and Bassett, "Regression quantiles", Econometrica 46, 1978.
 *
 * @param targets shape `[N]`
 * @param weights shape `[N]`
 */
export function pinballLoss({ values, levels }: Quantiles, targets: Values, weights?: Weights): number {
  const losses = Float64Array.from(targets, (target, n) => {
    const ofLevels = levels.map((level, q) => {
      const error = target - values[n * levels.length + q];
      return Number.isFinite(error) ? Math.max(level * error, (level - 1) * error) : NaN;
    });
    return mean(ofLevels);
  });
  return weightedMean(losses, weights);
}

/**
 * Share of targets from the first to the last quantile, both included; NaN where a value is not finite. Weights `[N]`.
 */
export function intervalShare({ values, levels }: Quantiles, targets: Values, weights?: Weights): number {
  const last = levels.length - 1;
  return weightedMean(
    Float64Array.from(targets, (target, n) => {
      const [low, high] = [values[n * levels.length], values[n * levels.length + last]];
      if (!Number.isFinite(low) || !Number.isFinite(high)) return NaN;
      return low <= target && target <= high ? 1 : 0;
    }),
    weights,
  );
}

/**
 * Log-probabilities of counts under Poisson distributions, y log λ - λ - log y!, in nats, shape `[N]`. NaN where the
 * rate is not positive and finite.
 *
 * @param rates λ, shape `[N]`
 * @param counts y, whole numbers from 0, shape `[N]`
 */
export function poissonLogProbabilities(rates: Values, counts: Values): Float64Array {
  checkShape('targets', counts, [rates.length]);
  return Float64Array.from(counts, (count, n) => {
    const rate = rates[n];
    return rate > 0 && rate < Infinity ? count * Math.log(rate) - rate - logFactorial(count) : NaN;
  });
}

/** Mean Poisson deviance, 2/N Σ (y log(y/λ) - y + λ), with 0 log 0 = 0. Shapes `[N]`. */
export function poissonDeviance(rates: Values, counts: Values, weights?: Weights): number {
  checkShape('targets', counts, [rates.length]);
  return weightedMean(
    Float64Array.from(counts, (count, n) => {
      const rate = rates[n];
      if (!(rate > 0 && rate < Infinity)) return NaN;
      return 2 * ((count === 0 ? 0 : count * Math.log(count / rate)) - count + rate);
    }),
    weights,
  );
}

/** log n!: the sum of logarithms up to 20, then Stirling's series. */
function logFactorial(n: number): number {
  if (n <= 20) {
    let sum = 0;
    for (let factor = 2; factor <= n; factor++) sum += Math.log(factor);
    return sum;
  }
  const correction = 1 / (12 * n) - 1 / (360 * n ** 3) + 1 / (1260 * n ** 5);
  return n * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI * n) + correction;
}
