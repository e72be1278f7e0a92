/**
 * Convolutions and pools as their definitions read, in float64 and over any number of spatial axes: what backends are held against. It shares
 * no code with TensorFlow.js.
 */

/** `same` and `valid` as TensorFlow defines them; pairs are explicit, one for each spatial axis. */
export type Padding = 'same' | 'valid' | readonly (readonly [number, number])[];

export interface Windows {
  readonly window: readonly number[];
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
  readonly padding: Padding;
}

export interface NaiveArray {
  readonly shape: readonly number[];
  readonly data: Float64Array;
}

/** A value, and the gradients of Σ value · dy with respect to each input. */
export interface NaiveResult {
  readonly shape: readonly number[];
  readonly value: Float64Array;
  readonly gradients: (dy: ArrayLike<number>) => Float64Array[];
}

/** One input position under one place of one window: places in the output, the window and the input, each row-major. */
interface Term {
  readonly output: number;
  readonly place: number;
  readonly input: number;
}

export const sizeOf = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

function indices(shape: readonly number[]): number[][] {
  return shape.reduce<number[][]>(
    (all, size) => all.flatMap((index) => Array.from({ length: size }, (_, i) => [...index, i])),
    [[]],
  );
}

const flat = (shape: readonly number[], index: readonly number[]): number =>
  shape.reduce((place, size, axis) => place * size + index[axis], 0);

/** Along one axis: how many windows there are, and how far before the array the first begins. */
function along(axis: number, size: number, { window, strides, dilations, padding }: Windows) {
  const span = (window[axis] - 1) * dilations[axis] + 1;
  const stride = strides[axis];
  if (padding === 'same') {
    const count = Math.ceil(size / stride);
    return { count, before: Math.floor(Math.max((count - 1) * stride + span - size, 0) / 2) };
  }
  const [before, after] = padding === 'valid' ? [0, 0] : padding[axis];
  return { count: Math.floor((size + before + after - span) / stride) + 1, before };
}

export function windowCounts(sizes: readonly number[], windows: Windows): number[] {
  return sizes.map((size, axis) => along(axis, size, windows).count);
}

function termsOf(sizes: readonly number[], windows: Windows): { counts: number[]; terms: Term[] } {
  const axes = sizes.map((size, axis) => along(axis, size, windows));
  const counts = axes.map(({ count }) => count);
  const { window, strides, dilations } = windows;
  const terms = indices(counts).flatMap((output) =>
    indices(window).flatMap((place) => {
      const input = sizes.map((_, a) => output[a] * strides[a] - axes[a].before + place[a] * dilations[a]);
      const isInside = input.every((position, a) => position >= 0 && position < sizes[a]);
      return isInside ? [{ output: flat(counts, output), place: flat(window, place), input: flat(sizes, input) }] : [];
    }),
  );
  return { counts, terms };
}

/** Calls back with the places of (y, x, filter) whose products a convolution sums. */
type Products = (visit: (y: number, x: number, filter: number) => void) => void;

function sumProducts(x: NaiveArray, filter: NaiveArray, shape: readonly number[], products: Products): NaiveResult {
  const value = new Float64Array(sizeOf(shape));
  products((y, i, w) => (value[y] += x.data[i] * filter.data[w]));
  const gradients = (dy: ArrayLike<number>): Float64Array[] => {
    const [dx, dFilter] = [x, filter].map(({ data }) => new Float64Array(data.length));
    products((y, i, w) => {
      dx[i] += dy[y] * filter.data[w];
      dFilter[w] += dy[y] * x.data[i];
    });
    return [dx, dFilter];
  };
  return { shape, value, gradients };
}

/** y[b, o, k] = Σ x[b, o·s − p + d·w, c] · f[w, c, k]: x `[B, ...sizes, C]`, f `[...window, C, K]`. */
export function convolution(x: NaiveArray, filter: NaiveArray, windows: Windows): NaiveResult {
  const [batch, sizes] = [x.shape[0], x.shape.slice(1, -1)];
  const [channels, outputs] = filter.shape.slice(-2);
  const { counts, terms } = termsOf(sizes, windows);
  const [positions, pixels] = [sizeOf(counts), sizeOf(sizes)];
  return sumProducts(x, filter, [batch, ...counts, outputs], (visit) => {
    for (let b = 0; b < batch; b++)
      for (const { output, place, input } of terms)
        for (let c = 0; c < channels; c++)
          for (let k = 0; k < outputs; k++) {
            const [y, i] = [(b * positions + output) * outputs + k, (b * pixels + input) * channels + c];
            visit(y, i, (place * channels + c) * outputs + k);
          }
  });
}

/** Each channel with filters of its own: x `[B, ...sizes, C]`, f `[...window, C, M]`, y `[B, ...counts, C · M]`. */
export function depthwiseConvolution(x: NaiveArray, filter: NaiveArray, windows: Windows): NaiveResult {
  const [batch, sizes] = [x.shape[0], x.shape.slice(1, -1)];
  const [channels, multiplier] = filter.shape.slice(-2);
  const { counts, terms } = termsOf(sizes, windows);
  const [positions, pixels, outputs] = [sizeOf(counts), sizeOf(sizes), channels * multiplier];
  return sumProducts(x, filter, [batch, ...counts, outputs], (visit) => {
    for (let b = 0; b < batch; b++)
      for (const { output, place, input } of terms)
        for (let k = 0; k < outputs; k++) {
          const i = (b * pixels + input) * channels + Math.floor(k / multiplier);
          visit((b * positions + output) * outputs + k, i, place * outputs + k);
        }
  });
}

/** For each value of a pool the places of x in its window, in row-major order. */
function members(x: NaiveArray, windows: Windows): { shape: number[]; members: number[][] } {
  const [batch, sizes, channels] = [x.shape[0], x.shape.slice(1, -1), x.shape.at(-1) ?? 0];
  const { counts, terms } = termsOf(sizes, windows);
  const shape = [batch, ...counts, channels];
  const lists = Array.from({ length: sizeOf(shape) }, (): number[] => []);
  for (let b = 0; b < batch; b++)
    for (const { output, input } of terms)
      for (let c = 0; c < channels; c++) {
        const y = (b * sizeOf(counts) + output) * channels + c;
        lists[y].push((b * sizeOf(sizes) + input) * channels + c);
      }
  return { shape, members: lists };
}

/** The largest value of each window, NaN where there is one; its gradient goes to the first of equals, or the first NaN. */
export function maxPool(x: NaiveArray, windows: Windows): NaiveResult {
  const { shape, members: lists } = members(x, windows);
  const isLarger = (a: number, b: number): boolean => a > b || (Number.isNaN(a) && !Number.isNaN(b));
  const places = lists.map((list) =>
    list.reduce((best, place) => (isLarger(x.data[place], x.data[best]) ? place : best)),
  );
  const gradients = (dy: ArrayLike<number>): Float64Array[] => {
    const dx = new Float64Array(x.data.length);
    places.forEach((place, y) => (dx[place] += dy[y]));
    return [dx];
  };
  return { shape, value: Float64Array.from(places, (place) => x.data[place]), gradients };
}

/** The mean of each window's values that are not padding. */
export function averagePool(x: NaiveArray, windows: Windows): NaiveResult {
  const { shape, members: lists } = members(x, windows);
  const value = Float64Array.from(lists, (list) => list.reduce((sum, place) => sum + x.data[place], 0) / list.length);
  const gradients = (dy: ArrayLike<number>): Float64Array[] => {
    const dx = new Float64Array(x.data.length);
    lists.forEach((list, y) => list.forEach((place) => (dx[place] += dy[y] / list.length)));
    return [dx];
  };
  return { shape, value, gradients };
}
