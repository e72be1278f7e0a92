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
 * R², 1 - sum_n (prediction_n - y_n)^2 / sum_n (y_n - mean y)^2, averaged over the columns of targets. At most 1; 0 for a prediction of the
 * mean. NaN if the targets of a column are all equal. A column that is masked throughout does not count.
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
