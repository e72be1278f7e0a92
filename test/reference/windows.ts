import { flat, forEachIndex, pick, sumOfProducts, type Value, weightedSum } from './value.ts';

/**
 * `same` and `valid` as TensorFlow defines them. `causal` puts all padding in front. Pairs are explicit, one per axis.
 */
export type Padding = 'same' | 'valid' | 'causal' | readonly (readonly [number, number])[];

export interface Windows {
  /** Sizes of the window along the spatial axes. */
  window: readonly number[];
  strides: readonly number[];
  dilations: readonly number[];
  padding: Padding;
}

/** Along one axis: the number of windows, and how far the first starts before the array. */
function axisWindows(size: number, axis: number, { window, strides, dilations, padding }: Windows) {
  const span = (window[axis] - 1) * dilations[axis] + 1;
  const stride = strides[axis];
  if (padding === 'same') {
    const count = Math.ceil(size / stride);
    return { count, before: Math.floor(Math.max((count - 1) * stride + span - size, 0) / 2) };
  }
  const [before, after] = padding === 'valid' ? [0, 0] : padding === 'causal' ? [span - 1, 0] : padding[axis];
  return { count: Math.floor((size + before + after - span) / stride) + 1, before };
}

/** The number of windows along each spatial axis. */
export function windowCounts(sizes: readonly number[], windows: Windows): number[] {
  return sizes.map((size, axis) => axisWindows(size, axis, windows).count);
}

/** Lists (position of a window, index within it, position in the array) for positions within the array. */
function forEachPlace(
  sizes: readonly number[],
  windows: Windows,
  visit: (output: readonly number[], place: readonly number[], input: readonly number[]) => void,
): void {
  const axes = sizes.map((size, axis) => axisWindows(size, axis, windows));
  const counts = axes.map(({ count }) => count);
  forEachIndex(counts, (output) =>
    forEachIndex(windows.window, (place) => {
      const input = sizes.map(
        (_, a) => output[a] * windows.strides[a] - axes[a].before + place[a] * windows.dilations[a],
      );
      if (input.every((position, a) => position >= 0 && position < sizes[a])) visit(output, place, input);
    }),
  );
}

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** y[b, o, k] = Σ x[b, o·s − p + d·w, i] · f[w, i, k]: x `[B, ...sizes, I]`, f `[...window, I, K]`. */
export function convolution(x: Value, filter: Value, windows: Windows): Value {
  const [batch, sizes, inputs] = [x.shape[0], x.shape.slice(1, -1), x.shape.at(-1) ?? 0];
  const outputs = filter.shape.at(-1) ?? 0;
  const shape = [batch, ...windowCounts(sizes, windows), outputs];
  return sumOfProducts(x, filter, shape, (term) =>
    forEachPlace(sizes, windows, (output, place, input) => {
      const weights = flat(filter.shape, [...place, 0, 0]);
      for (let b = 0; b < batch; b++) {
        const [to, from] = [flat(shape, [b, ...output, 0]), flat(x.shape, [b, ...input, 0])];
        for (let i = 0; i < inputs; i++)
          for (let k = 0; k < outputs; k++) term(to + k, from + i, weights + i * outputs + k);
      }
    }),
  );
}

/** Separate filters per channel: x `[B, H, W, C]`, f `[h, w, C, M]`, y `[B, OH, OW, C·M]`, channel c·M + m. */
export function depthwiseConvolution(x: Value, filter: Value, windows: Windows): Value {
  const [batch, sizes, channels] = [x.shape[0], x.shape.slice(1, -1), x.shape.at(-1) ?? 0];
  const multiplier = filter.shape.at(-1) ?? 0;
  const shape = [batch, ...windowCounts(sizes, windows), channels * multiplier];
  return sumOfProducts(x, filter, shape, (term) =>
    forEachPlace(sizes, windows, (output, place, input) => {
      const weights = flat(filter.shape, [...place, 0, 0]);
      for (let b = 0; b < batch; b++) {
        const [to, from] = [flat(shape, [b, ...output, 0]), flat(x.shape, [b, ...input, 0])];
        for (let c = 0; c < channels; c++)
          for (let m = 0; m < multiplier; m++) term(to + c * multiplier + m, from + c, weights + c * multiplier + m);
      }
    }),
  );
}

/**
 * The gradient of a convolution with respect to its input, as an op: x `[B, ...counts, I]`, f `[...window, K, I]`, y
 * `[B, ...sizes, K]`, where the convolution maps arrays of `sizes` to `counts`.
 */
export function transposedConvolution(x: Value, filter: Value, sizes: readonly number[], windows: Windows): Value {
  const [batch, inputs] = [x.shape[0], x.shape.at(-1) ?? 0];
  const outputs = filter.shape.at(-2) ?? 0;
  const shape = [batch, ...sizes, outputs];
  return sumOfProducts(x, filter, shape, (term) =>
    forEachPlace(sizes, windows, (count, place, position) => {
      const weights = flat(filter.shape, [...place, 0, 0]);
      for (let b = 0; b < batch; b++) {
        const [to, from] = [flat(shape, [b, ...position, 0]), flat(x.shape, [b, ...count, 0])];
        for (let i = 0; i < inputs; i++)
          for (let k = 0; k < outputs; k++) term(to + k, from + i, weights + k * inputs + i);
      }
    }),
  );
}

/** For each window and channel, the positions of x in it. */
function pooled(x: Value, windows: Windows): { shape: number[]; members: number[][] } {
  const [batch, sizes, channels] = [x.shape[0], x.shape.slice(1, -1), x.shape.at(-1) ?? 0];
  const shape = [batch, ...windowCounts(sizes, windows), channels];
  const members = Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (): number[] => []);
  forEachPlace(sizes, windows, (output, _, input) => {
    for (const b of range(batch))
      for (const c of range(channels)) members[flat(shape, [b, ...output, c])].push(flat(x.shape, [b, ...input, c]));
  });
  return { shape, members };
}

/** The largest value of each window. The first of equal values gets the gradient, and NaN is larger than any number. */
export function maxPool(x: Value, windows: Windows): Value {
  const { shape, members } = pooled(x, windows);
  const isLarger = (a: number, b: number): boolean => a > b || (Number.isNaN(a) && !Number.isNaN(b));
  return pick(x, shape, (o) =>
    members[o].reduce((best, place) => (isLarger(x.data[place], x.data[best]) ? place : best)),
  );
}

/** The mean of each window's values, without padding. */
export function averagePool(x: Value, windows: Windows): Value {
  const { shape, members } = pooled(x, windows);
  return weightedSum(x, shape, (term) =>
    members.forEach((places, o) => places.forEach((place) => term(o, place, 1 / places.length))),
  );
}
