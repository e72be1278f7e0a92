import type { TargetMeaning } from '../preprocessing/schema.ts';

/** mean + std · value for means and quantiles, std² · value for variances; K quantiles have one target's unit. */
export function inOwnUnit<S extends { width: number; values: readonly Float32Array[] }>(
  stack: S,
  target: TargetMeaning | undefined,
): S {
  if (target?.kind !== 'values') return stack;
  const { mean, std } = target;
  if (mean.every((value) => value === 0) && std.every((value) => value === 1)) return stack;
  const column = (i: number) => (i % stack.width) % mean.length;
  const values = stack.values.map((output, index) =>
    index === 0
      ? output.map((value, i) => mean[column(i)] + std[column(i)] * value)
      : output.map((value, i) => std[column(i)] ** 2 * value),
  );
  return { ...stack, values };
}

/** mean + std · value for ends of intervals, shape `[N, T]`. */
export function endsInOwnUnit(ends: Float64Array, target: TargetMeaning | undefined): Float64Array {
  if (target?.kind !== 'values') return ends;
  const { mean, std } = target;
  return ends.map((value, i) => mean[i % mean.length] + std[i % mean.length] * value);
}

/** Mean over the members, `[M, ...]` to `[...]`. */
export function meanOf(values: Float32Array, members: number): Float64Array {
  const mean = new Float64Array(values.length / members);
  for (let first = 0; first < values.length; first += mean.length) {
    for (let i = 0; i < mean.length; i++) mean[i] += values[first + i];
  }
  for (let i = 0; i < mean.length; i++) mean[i] /= members;
  return mean;
}

/** Standard deviation over the members, divided by M. */
export function deviationOf(values: Float32Array, members: number, mean: Float64Array): Float64Array {
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
