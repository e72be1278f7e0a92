import type { Weights } from '../metrics/weights.ts';

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
  const order = Uint32Array.from(values.keys()).sort((left, right) => compare(values[left], values[right]));
  const total = (weights?.reduce((sum, weight) => sum + weight, 0) ?? values.length) + further;
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
function compare(left: number, right: number): number {
  if (Number.isNaN(left)) return Number.isNaN(right) ? 0 : 1;
  return Number.isNaN(right) ? -1 : left - right;
}
