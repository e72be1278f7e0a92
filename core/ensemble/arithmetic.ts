import type { TargetMeaning } from '../preprocessing/schema.ts';

/** Values as models give them, or in float64 where these would lose digits. */
export type Values = Float32Array | Float64Array;

/**
 * Brings values of a target's training to its own unit: in float64, because float32 has no digits left for deviations
 * from a mean far from 0.
 */
export interface OwnUnit {
  /** mean + std · value, of means, quantiles and ends of intervals. */
  values: <A extends Values>(given: A) => A | Float64Array;
  /** std · value */
  deviations: (given: Float64Array) => Float64Array;
  /** std² · value */
  variances: <A extends Values>(given: A) => A | Float64Array;
}

/** The unit of values of `width` columns; K quantiles have one target's unit. */
export function ownUnit(target: TargetMeaning | undefined, width: number): OwnUnit {
  const same = <A>(given: A): A => given;
  if (target?.kind !== 'values') return { values: same, deviations: same, variances: same };
  const { mean, std } = target;
  if (mean.every((value) => value === 0) && std.every((value) => value === 1)) return ownUnit(undefined, width);
  const column = (i: number) => (i % width) % mean.length;
  return {
    values: (given) => Float64Array.from(given, (value, i) => mean[column(i)] + std[column(i)] * value),
    deviations: (given) => given.map((value, i) => std[column(i)] * value),
    variances: (given) => Float64Array.from(given, (value, i) => std[column(i)] ** 2 * value),
  };
}

/**
 * Whether float32 rounds values in their own unit by more than a thousandth of the deviation of the targets: |mean| /
 * std above 2^24 / 1000.
 */
export function exceedsFloat32(target: TargetMeaning | undefined): boolean {
  return target?.kind === 'values' && target.mean.some((mean, i) => Math.abs(mean) * 2 ** -24 > target.std[i] / 1000);
}

/** Mean over the members, `[M, ...]` to `[...]`. */
export function meanOf(values: Values, members: number): Float64Array {
  const mean = new Float64Array(values.length / members);
  for (let first = 0; first < values.length; first += mean.length) {
    for (let i = 0; i < mean.length; i++) mean[i] += values[first + i];
  }
  for (let i = 0; i < mean.length; i++) mean[i] /= members;
  return mean;
}

/** Standard deviation over the members, divided by M. */
export function deviationOf(values: Values, members: number, mean: Float64Array): Float64Array {
  const squares = new Float64Array(mean.length);
  for (let first = 0; first < values.length; first += mean.length) {
    for (let i = 0; i < mean.length; i++) squares[i] += (values[first + i] - mean[i]) ** 2;
  }
  return squares.map((sum) => Math.sqrt(sum / members));
}

/** max(0, total − 1/M Σ_m entropy_m). */
export function informationOf(
  total: Float64Array,
  members: Float32Array,
  count: number,
  entropyOf: (values: Float32Array) => Float64Array,
): Float64Array {
  const expected = new Float64Array(total.length);
  const size = members.length / count;
  for (let member = 0; member < count; member++) {
    entropyOf(members.subarray(member * size, (member + 1) * size)).forEach(
      (value, i) => (expected[i] += value / count),
    );
  }
  return total.map((value, i) => Math.max(0, value - expected[i]));
}

/** −p log p − (1 − p) log(1 − p), with 0 log 0 = 0. */
export function binaryEntropy(probability: number): number {
  const part = (p: number) => (p === 0 ? 0 : p * Math.log(p));
  return 0 - part(probability) - part(1 - probability);
}
