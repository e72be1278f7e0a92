import type { KernelModule } from '../kernel-module.ts';
import type { TensorMemory } from '../memory/tensor-memory.ts';

/** What the rules know besides a kernel's arguments. */
export interface Place {
  readonly threads: number;
  /** Addresses of scratch space, one for each thread. */
  readonly scratch: readonly number[];
  /** Space for a copy of a window for each thread, which moves its position. */
  readonly windows: readonly number[];
  readonly memory: TensorMemory;
}

/** The arguments of each part of a call, which write to different places; null: the call is too small for threads. */
export type Rule = (values: number[], place: Place) => number[][] | null;

/** Smaller calls run in one thread: waking another one takes longer than its part. */
const leastProducts = 2 ** 20;
const leastValues = 2 ** 15;

/**
 * How the kernels of `workers/kernels` are divided among threads. Each value is computed by the same instructions as by
 * one thread, so that results have the same bits: parts begin at multiples of the kernels' vectors and tiles, and no
 * sum is divided. Kernels that are not here run in one thread.
 */
export const rules = {
  gemm: divideProduct,
  multiplyPacked: ([m, n, k, a, lda, packed, c, ldc, accumulate], place) =>
    m * n * k < leastProducts
      ? null
      : ranges(m, place.threads, 12).map(([from, rows], i) => {
          const [ofA, ofC] = [a + 4 * from * lda, c + 4 * from * ldc];
          return [rows, n, k, ofA, lda, packed, ofC, ldc, accumulate, place.scratch[i]];
        }),
  im2col: ([images, window, from, to, columns], place) => {
    const { depth } = readWindow(window, place);
    return (to - from) * depth < leastValues
      ? null
      : ranges(to - from, place.threads, 1).map(([first, rows], i) => {
          const own = copyWindow(window, place, i);
          return [images, own, from + first, from + first + rows, columns + 4 * first * depth];
        });
  },
  // Windows overlap in an image, so that each image belongs to one thread.
  col2im: ([columns, window, from, to, images], place) => {
    const { depth, positions } = readWindow(window, place);
    const [first, last] = [Math.floor(from / positions), Math.ceil(to / positions)];
    if ((to - from) * depth < leastValues || last - first < 2) return null;
    return ranges(last - first, place.threads, 1).map(([image, count], i) => {
      const begin = Math.max(from, (first + image) * positions);
      const end = Math.min(to, (first + image + count) * positions);
      return [columns + 4 * (begin - from) * depth, copyWindow(window, place, i), begin, end, images];
    });
  },
  maxPool: byImages({ images: [0], outputs: [1], window: 2, positions: 3 }),
  avgPool: byImages({ images: [0], outputs: [1], window: 2, positions: 3 }),
  maxPoolGradient: byImages({ images: [0, 3], outputs: [1, 2], window: 4, positions: 5, scratch: 6 }),
  avgPoolGradient: byImages({ images: [1], outputs: [0], window: 2, positions: 3 }),
  depthwise: byImages({ images: [0], outputs: [2], window: 3, positions: 5, multiplier: 4 }),
  depthwiseInputGradient: byImages({ images: [2], outputs: [0], window: 3, positions: 5, multiplier: 4 }),
  addBias: byRows({ rows: 2, columns: 3, wide: [0] }),
  scaleColumns: byRows({ rows: 1, columns: 2, wide: [0, 5] }),
  combineColumns: byRows({ rows: 2, columns: 3, wide: [0, 1, 7] }),
  normalizeRows: byRows({ rows: 1, columns: 2, wide: [0, 8], narrow: [6, 7] }),
  columnMoments: byColumns({ rows: 1, columns: 2, arrays: [0, 4, 5], scratch: 6 }),
  columnSlopes: byColumns({ rows: 2, columns: 3, arrays: [0, 1, 5, 6, 7], scratch: 8 }),
  sumAxis: byGroups(5),
  maxAxis: byGroups(4),
  clip: byValues({ size: 1, arrays: [0, 4] }),
  tanh: byValues({ size: 1, arrays: [0, 2] }),
  gelu: byValues({ size: 1, arrays: [0, 2, 3] }),
  swish: byValues({ size: 1, arrays: [0, 2, 3] }),
  gradientOfRelu: byValues({ size: 2, arrays: [0, 1, 3] }),
  gradientOfSigmoid: byValues({ size: 2, arrays: [0, 1, 3] }),
  gradientOfTanh: byValues({ size: 2, arrays: [0, 1, 3] }),
  addTo: byValues({ size: 2, arrays: [0, 1] }),
  divideBy: byValues({ size: 2, arrays: [0] }),
  updateAdam: byValues({ size: 4, arrays: [0, 1, 2, 3, 13, 14, 15] }),
  updateSgd: byValues({ size: 3, arrays: [0, 1, 2, 8, 9] }),
  updateRmsprop: byValues({ size: 5, arrays: [0, 1, 2, 3, 4, 12, 13, 14, 15] }),
  updateLion: byValues({ size: 3, arrays: [0, 1, 2, 10, 11] }),
  directLamb: byValues({ size: 4, arrays: [0, 1, 2, 3, 12, 13, 14] }),
} satisfies Partial<Record<keyof KernelModule, Rule>>;

/** `count` in one range for each thread, beginning at multiples of `multiple`: the first and the length. */
function ranges(count: number, threads: number, multiple: number): [from: number, length: number][] {
  const length = Math.ceil(count / threads / multiple) * multiple;
  return Array.from({ length: Math.ceil(count / length) }, (_, i) => [
    i * length,
    Math.min(length, count - i * length),
  ]);
}

/** A copy of arguments in which arrays begin further on. Absent arrays have the address 0. */
function advance(values: readonly number[], arrays: readonly number[], bytes: number): number[] {
  const moved = [...values];
  for (const array of arrays) if (moved[array] !== 0) moved[array] += bytes;
  return moved;
}

/** Rows or columns of C, whichever has more: both operands are packed once for each part. */
function divideProduct(values: number[], place: Place): number[][] | null {
  const [transposeA, transposeB, m, n, k, a, lda, b, ldb, c, ldc, accumulate] = values;
  if (m * n * k < leastProducts) return null;
  const divideRows = m > n;
  // Whole tiles: of 6 rows, of 8 or 16 columns.
  return ranges(divideRows ? m : n, place.threads, divideRows ? 12 : 16).map(([from, length], i) => {
    const own = place.scratch[i];
    const ofA = a + 4 * from * (transposeA ? 1 : lda);
    const ofB = b + 4 * from * (transposeB ? ldb : 1);
    return divideRows
      ? [transposeA, transposeB, length, n, k, ofA, lda, b, ldb, c + 4 * from * ldc, ldc, accumulate, own]
      : [transposeA, transposeB, m, length, k, a, lda, ofB, ldb, c + 4 * from, ldc, accumulate, own];
  });
}

/** A kernel of `size` values, each computed from those at the same place. The numbers are places of arguments. */
function byValues({ size, arrays }: { size: number; arrays: number[] }): Rule {
  return (values, { threads }) => {
    if (values[size] < leastValues) return null;
    return ranges(values[size], threads, 64).map(([from, length]) => {
      const part = advance(values, arrays, 4 * from);
      part[size] = length;
      return part;
    });
  };
}

/** A kernel of each row of `wide` arrays. `narrow` arrays have one value for each row. */
function byRows(places: { rows: number; columns: number; wide: number[]; narrow?: number[] }): Rule {
  return (values, { threads }) => {
    const [rows, columns] = [values[places.rows], values[places.columns]];
    if (rows * columns < leastValues) return null;
    return ranges(rows, threads, 1).map(([from, length]) => {
      const part = advance(advance(values, places.wide, 4 * from * columns), places.narrow ?? [], 4 * from);
      part[places.rows] = length;
      return part;
    });
  };
}

/** A kernel of each column of arrays, with six values of scratch space for each. */
function byColumns(places: { rows: number; columns: number; arrays: number[]; scratch: number }): Rule {
  return (values, { threads }) => {
    const columns = values[places.columns];
    if (values[places.rows] * columns < leastValues) return null;
    return ranges(columns, threads, 16).map(([from, length]) => {
      const part = advance(advance(values, places.arrays, 4 * from), [places.scratch], 24 * from);
      part[places.columns] = length;
      return part;
    });
  };
}

/** A reduction of `outer x reduced x inner` values at argument 0, with the result at argument `out`. */
function byGroups(out: number): Rule {
  return (values, { threads }) => {
    const [, outer, reduced, inner] = values;
    if (outer * reduced * inner < leastValues || outer < 2) return null;
    return ranges(outer, threads, 1).map(([from, length]) => {
      const part = advance(advance(values, [0], 4 * from * reduced * inner), [out], 4 * from * inner);
      part[1] = length;
      return part;
    });
  };
}

/** A kernel that moves a window over each image. `outputs` have `multiplier` values for each channel. */
function byImages(places: {
  images: number[];
  outputs: number[];
  window: number;
  positions: number;
  multiplier?: number;
  scratch?: number;
}): Rule {
  return (values, place) => {
    const window = readWindow(values[places.window], place);
    const images = values[places.positions] / window.positions;
    if (values[places.positions] * window.depth < leastValues || images < 2) return null;
    const outputs = window.channels * (places.multiplier === undefined ? 1 : values[places.multiplier]);
    return ranges(images, place.threads, 1).map(([from, count], i) => {
      const ofImages = advance(values, places.images, 4 * from * window.imageSize);
      const part = advance(ofImages, places.outputs, 4 * from * window.positions * outputs);
      part[places.window] = copyWindow(values[places.window], place, i);
      part[places.positions] = count * window.positions;
      if (places.scratch !== undefined) part[places.scratch] = place.scratch[i];
      return part;
    });
  };
}

/** Sizes of a `Window` (`workers/kernels/assembly/windows/window.ts`). */
function readWindow(window: number, { memory }: Place) {
  const [height, width, channels, outputHeight, outputWidth, kernelHeight, kernelWidth] = memory.integers(window, 7);
  return {
    channels,
    imageSize: height * width * channels,
    /** Positions of the window in an image, and values under it at each. */
    positions: outputHeight * outputWidth,
    depth: kernelHeight * kernelWidth * channels,
  };
}

function copyWindow(window: number, { memory, windows }: Place, part: number): number {
  memory.integers(windows[part], windowValues).set(memory.integers(window, windowValues));
  return windows[part];
}

const windowValues = 20;
