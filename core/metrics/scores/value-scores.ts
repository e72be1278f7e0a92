import { checkShape } from '../checks.ts';
import { mean } from '../predictions.ts';
import type { Values } from '../stacks.ts';

/**
 * Mean absolute error, 1/N sum_n |prediction_n - y_n|.
 *
 * @param predictions shape `[N]`
 * @param targets shape `[N]`
 */
export function meanAbsoluteError(predictions: Values, targets: Values): number {
  checkShape('targets', targets, [predictions.length]);
  return finiteOrNaN(mean(Float64Array.from(targets, (target, sample) => Math.abs(predictions[sample] - target))));
}

/**
 * R², 1 - sum_n (prediction_n - y_n)^2 / sum_n (y_n - mean y)^2, averaged over the columns of targets. At most 1; 0 for a prediction of the
 * mean. NaN if the targets of a column are all equal.
 *
 * @param predictions shape `[N, T]`
 * @param targets shape `[N, T]`
 * @param columns T
 */
export function determination(predictions: Values, targets: Values, columns: number): number {
  checkShape('targets', targets, [predictions.length / columns, columns]);
  return mean(
    Array.from({ length: columns }, (_, column) => {
      const isOwn = (_value: number, index: number): boolean => index % columns === column;
      return ofColumn(predictions.filter(isOwn), targets.filter(isOwn));
    }),
  );
}

function ofColumn(predictions: Values, targets: Values): number {
  const center = mean(targets);
  let [residual, total] = [0, 0];
  for (let sample = 0; sample < targets.length; sample++) {
    residual += (predictions[sample] - targets[sample]) ** 2;
    total += (targets[sample] - center) ** 2;
  }
  return finiteOrNaN(1 - residual / total);
}

function finiteOrNaN(value: number): number {
  return Number.isFinite(value) ? value : NaN;
}
