import { checkShape } from './checks.ts';
import { mean } from './predictions.ts';
import type { StackedClasses } from './stacks.ts';

/**
 * Weights of a split's targets, in the shape of the targets: at least 0. A sample's weight times 1 where the mask
 * counts the target, else 0. A target of weight 0 does not count, whatever its prediction. Without weights all targets
 * count alike.
 */
export type Weights = Float64Array;

/**
 * Σ w v / Σ w over the values whose weight is above 0; without weights the arithmetic mean. NaN if a value that counts
 * is.
 */
export function weightedMean(values: ArrayLike<number>, weights?: Weights): number {
  if (weights === undefined) return mean(values);
  let [sum, total] = [0, 0];
  for (let index = 0; index < values.length; index++) {
    if (weights[index] === 0) continue;
    sum += weights[index] * values[index];
    total += weights[index];
  }
  return sum / total;
}

/** Σ w; without weights the number of values. */
export function totalWeight(count: number, weights?: Weights): number {
  return weights === undefined ? count : weights.reduce((sum, weight) => sum + weight, 0);
}

/** Whether all values that count are finite. */
export function areCountedFinite(values: Float32Array | Float64Array, weights?: Weights): boolean {
  return values.every((value, index) => Number.isFinite(value) || weights?.[index] === 0);
}

/**
 * The weights in the form that metrics take: undefined where all are equal, so that they change nothing.
 *
 * @param size number of targets
 * @throws RangeError when they do not fit the targets, one is negative or not finite, or all are 0
 */
export function checkedWeights(weights: Weights | undefined, size: number): Weights | undefined {
  if (weights === undefined) return undefined;
  checkShape('weights', weights, [size]);
  const wrong = weights.findIndex((weight) => !(Number.isFinite(weight) && weight >= 0));
  if (wrong >= 0) {
    throw new RangeError(`weights[${wrong}] is ${weights[wrong]}: a weight is finite and at least 0; correct the data`);
  }
  if (weights.every((weight) => weight === 0)) {
    throw new RangeError(
      `All ${size} targets have weight 0 or are masked: a metric needs one that counts; correct weights and mask`,
    );
  }
  return weights.every((weight) => weight === weights[0]) ? undefined : weights;
}

/** Classifiers' predictions with their targets. */
export interface WeightedClasses {
  stack: StackedClasses;
  /** Class indices, shape `[N]`. */
  targets: Int32Array;
  /** Shape `[N]`, all above 0; undefined where all are equal. */
  weights?: Weights;
}

/** The samples whose weight is above 0. @throws RangeError as {@link checkedWeights} */
export function countedSamples(stack: StackedClasses, targets: Int32Array, given?: Weights): WeightedClasses {
  const weights = checkedWeights(given, targets.length);
  if (weights === undefined || !weights.includes(0)) return { stack, targets, weights };
  const isCounted = (_: number, sample: number): boolean => weights[sample] > 0;
  const left = weights.filter(isCounted);
  const { samples, classes } = stack;
  const rowOf = (index: number): number => Math.floor(index / classes) % samples;
  const valuesOf = (values: Float32Array) => values.filter((_, index) => weights[rowOf(index)] > 0);
  const shape = { members: stack.members, samples: left.length, classes };
  return {
    stack:
      'logits' in stack ? { ...shape, logits: valuesOf(stack.logits) } : { ...shape, values: valuesOf(stack.values) },
    targets: targets.filter(isCounted),
    weights: checkedWeights(left, left.length),
  };
}

/**
 * The smallest value v for which the weights of the values up to v make at least `level` of the sum of all weights and
 * `further`; Infinity where even all values do not. Without weights each value counts 1, so that it is the ⌈level (n +
 * further)⌉-th smallest.
 *
 * @param values shape `[N]`; NaN counts as larger than all others
 * @param level from 0 to 1
 * @param weights shape `[N]`
 * @param further weight of a value that lies above all others
 */
export function weightedQuantile(values: Float64Array, level: number, weights?: Weights, further = 0): number {
  const order = Uint32Array.from(values.keys()).sort((left, right) => compareNaNLast(values[left], values[right]));
  const total = totalWeight(values.length, weights) + further;
  // A tolerance, because 0.1 and 0.9 are not exact: (9 + 1)(1 − 0.1) is 9.
  const needed = level * total - 1e-9 * (total / (values.length + 1));
  let sum = 0;
  for (const index of order) {
    sum += weights?.[index] ?? 1;
    if (sum >= needed) return values[index];
  }
  return Infinity;
}

/** NaN last, as typed arrays sort. */
function compareNaNLast(left: number, right: number): number {
  if (Number.isNaN(left)) return Number.isNaN(right) ? 0 : 1;
  return Number.isNaN(right) ? -1 : left - right;
}
