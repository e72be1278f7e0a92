import { eachSample } from '../labels/label-answers.ts';
import type { LabelSamples } from '../held-out.ts';
import { mostProbableClass } from '../../metrics/classification.ts';
import type { Probabilities } from '../../metrics/stacks.ts';

/** 1 where the most probable class is not the target, else 0: shape `[N]`. */
export function classLosses(probabilities: Probabilities, targets: Int32Array): Float64Array {
  const chosen = mostProbableClass(probabilities);
  return Float64Array.from(targets, (target, sample) => (chosen[sample] === target ? 0 : 1));
}

/**
 * The share of a sample's labels that are decided wrongly, present above a probability of 1/2; of those that count. Shape `[N]`; 0 where none counts.
 *
 * @param probabilities shape `[N, L]`
 */
export function labelLosses(probabilities: Float64Array, { targets, stack, counted }: LabelSamples): Float64Array {
  return eachSample(probabilities, stack.classes, (own, sample) => {
    let [wrong, count] = [0, 0];
    own.forEach((p, label) => {
      const index = sample * stack.classes + label;
      if (counted?.[index] === 0) return;
      count += 1;
      if (p > 0.5 !== (targets[index] === 1)) wrong += 1;
    });
    return count === 0 ? 0 : wrong / count;
  });
}

/**
 * Squared errors averaged over a sample's targets, shape `[N]`; of quantiles the squared error of the one nearest to the median.
 *
 * @param mean shape `[N, W]`
 * @param targets shape `[N, T]`
 * @param columns W
 * @param levels of the quantiles, shape `[W]`; null for means
 */
export function valueLosses(
  mean: Float64Array,
  targets: ArrayLike<number>,
  columns: number,
  levels: readonly number[] | null,
): Float64Array {
  const losses = new Float64Array(mean.length / columns);
  if (levels !== null) {
    const distances = levels.map((level) => Math.abs(level - 0.5));
    const median = distances.indexOf(Math.min(...distances));
    return losses.map((_, sample) => (mean[sample * columns + median] - targets[sample]) ** 2);
  }
  mean.forEach((value, index) => (losses[Math.floor(index / columns)] += (value - targets[index]) ** 2 / columns));
  return losses;
}
