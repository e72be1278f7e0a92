import { apply, divide, subtract } from './elementwise.ts';
import { flat, forEachIndex, pick, sizeOf, sumOfProducts, Value, weightedSum } from './value.ts';

export function reshape(x: Value, shape: readonly number[]): Value {
  return pick(x, shape, (o) => o);
}

/** Axis i of the result is axis `permutation[i]` of x. */
export function transpose(x: Value, permutation: readonly number[]): Value {
  return pick(
    x,
    permutation.map((axis) => x.shape[axis]),
    (_, index) => {
      const source = x.shape.map(() => 0);
      permutation.forEach((axis, i) => (source[axis] = index[i]));
      return flat(x.shape, source);
    },
  );
}

/** y[index] = x[source(index)], or `otherwise` if that is outside of x. */
export function rearrange(
  x: Value,
  shape: readonly number[],
  source: (index: readonly number[]) => readonly number[],
  otherwise = 0,
): Value {
  return pick(
    x,
    shape,
    (_, index) => {
      const from = source(index);
      return from.every((i, axis) => i >= 0 && i < x.shape[axis]) ? flat(x.shape, from) : null;
    },
    otherwise,
  );
}

export function slice(x: Value, begin: readonly number[], size: readonly number[]): Value {
  return rearrange(x, size, (index) => index.map((i, axis) => begin[axis] + i));
}

/** The part [begin, begin + size) along the last axis. */
export function lastAxisPart(x: Value, begin: number, size: number): Value {
  const leading = x.shape.slice(0, -1);
  return slice(x, [...leading.map(() => 0), begin], [...leading, size]);
}

/** Pads x with a constant. */
export function pad(x: Value, paddings: readonly (readonly [number, number])[], constant = 0): Value {
  const shape = x.shape.map((size, axis) => size + paddings[axis][0] + paddings[axis][1]);
  return rearrange(x, shape, (index) => index.map((i, axis) => i - paddings[axis][0]), constant);
}

export function concat(parts: readonly Value[], axis: number): Value {
  const sizes = parts.map(({ shape }) => shape[axis]);
  const total = sizes.reduce((a, b) => a + b);
  const data = new Float64Array(sizeOf(parts[0].shape.with(axis, total)));
  const shape = parts[0].shape.with(axis, total);
  /** Lists (index in the whole, part, index in the part). */
  const forEachPlace = (visit: (o: number, part: Value, i: number) => void): void => {
    let begin = 0;
    for (const part of parts) {
      forEachIndex(part.shape, (index, i) => visit(flat(shape, index.with(axis, index[axis] + begin)), part, i));
      begin += part.shape[axis];
    }
  };
  forEachPlace((o, part, i) => (data[o] = part.data[i]));
  return new Value(data, shape, parts, (dy) => forEachPlace((o, part, i) => (part.gradient[i] += dy[o])));
}

/** Stacks the parts along a new axis. */
export function stack(parts: readonly Value[], axis: number): Value {
  return concat(
    parts.map((part) => reshape(part, part.shape.toSpliced(axis, 0, 1))),
    axis,
  );
}

/** x[..., ids[k], ...] along an axis. */
export function gather(x: Value, ids: readonly number[], axis: number): Value {
  return rearrange(x, x.shape.with(axis, ids.length), (index) => index.with(axis, ids[index[axis]]));
}

/** y[..., m, n] = Σ_k a[..., m, k] · b[..., k, n], each optionally transposed, with equal leading axes. */
export function matMul(a: Value, b: Value, transposeA = false, transposeB = false): Value {
  const leading = a.shape.slice(0, -2);
  const [rows, inner] = transposeA ? a.shape.slice(-2).toReversed() : a.shape.slice(-2);
  const columns = transposeB ? b.shape.at(-2) : b.shape.at(-1);
  const shape = [...leading, rows, columns ?? 0];
  return sumOfProducts(a, b, shape, (term) =>
    forEachIndex(shape, (index, o) => {
      const [batch, [m, n]] = [index.slice(0, -2), index.slice(-2)];
      for (let k = 0; k < inner; k++) {
        const ofA = flat(a.shape, [...batch, ...(transposeA ? [k, m] : [m, k])]);
        term(o, ofA, flat(b.shape, [...batch, ...(transposeB ? [n, k] : [k, n])]));
      }
    }),
  );
}

/** The shape after a sum over axes, with size 1 for each. */
const kept = (shape: readonly number[], axes: readonly number[]): number[] =>
  shape.map((size, axis) => (axes.includes(axis) ? 1 : size));

/** A shape without axes. */
export const without = (shape: readonly number[], axes: readonly number[]): number[] =>
  shape.filter((_, axis) => !axes.includes(axis));

export const allAxes = (x: Value): number[] => x.shape.map((_, axis) => axis);

/** Σ x over axes, kept with size 1. */
export function sum(x: Value, axes: readonly number[]): Value {
  const shape = kept(x.shape, axes);
  return weightedSum(x, shape, (term) =>
    forEachIndex(x.shape, (index, i) =>
      term(
        flat(
          shape,
          index.map((at, axis) => (axes.includes(axis) ? 0 : at)),
        ),
        i,
        1,
      ),
    ),
  );
}

export function mean(x: Value, axes: readonly number[]): Value {
  const count = axes.reduce((product, axis) => product * x.shape[axis], 1);
  return divide(sum(x, axes), new Value([count], []));
}

/** Mean of squared differences from the mean, without Bessel's correction. */
export function variance(x: Value, axes: readonly number[]): Value {
  return mean(apply('square', subtract(x, mean(x, axes))), axes);
}

/** The value over axes, kept with size 1, that `isBetter` than all others. */
export function extreme(x: Value, axes: readonly number[], isBetter: (a: number, b: number) => boolean): Value {
  const shape = kept(x.shape, axes);
  const best: number[] = [];
  forEachIndex(x.shape, (index, i) => {
    const o = flat(
      shape,
      index.map((at, axis) => (axes.includes(axis) ? 0 : at)),
    );
    if (best[o] === undefined || isBetter(x.data[i], x.data[best[o]])) best[o] = i;
  });
  return pick(x, shape, (o) => best[o]);
}

export const max = (x: Value, axes: readonly number[]): Value => extreme(x, axes, (a, b) => a > b);
export const min = (x: Value, axes: readonly number[]): Value => extreme(x, axes, (a, b) => a < b);

/** log Σ e^x over axes, kept with size 1. The maximum subtracted for range has no gradient. */
export function logSumExp(x: Value, axes: readonly number[]): Value {
  const largest = max(x, axes);
  const shift = new Value(largest.data, largest.shape);
  const logOfSum = apply('log', sum(apply('exp', subtract(x, shift)), axes));
  return subtract(logOfSum, apply('neg', shift));
}

export function logSoftmax(x: Value, axis: number): Value {
  return subtract(x, logSumExp(x, [axis]));
}

export function softmax(x: Value, axis: number): Value {
  return apply('exp', logSoftmax(x, axis));
}
