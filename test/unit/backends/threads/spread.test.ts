import type { BackendWasm } from '@tensorflow/tfjs-backend-wasm';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { type KernelModule, loadKernels } from '../../../../workers/backends/wasm/kernel-module.ts';
import { TensorMemory } from '../../../../workers/backends/wasm/memory/tensor-memory.ts';
import type { Kernel } from '../../../../workers/backends/wasm/threads/job.ts';
import { KernelThreads } from '../../../../workers/backends/wasm/threads/kernel-threads.ts';
import { rules } from '../../../../workers/backends/wasm/threads/spread.ts';
import { propertyOptions, spread } from '../kernels/fill.ts';
import { tf } from '../../../../workers/tensorflow/tf.ts';

type Name = keyof typeof rules;

/** A kernel's arguments: numbers, windows, arrays that are read and written, and scratch space, whose content is free. */
type Argument =
  number | { readonly window: readonly number[] } | { readonly values: number; readonly isScratch: boolean };

const array = (values: number): Argument => ({ values, isScratch: false });
const scratch = (values: number): Argument => ({ values, isScratch: true });
const size = fc.integer({ min: 2 ** 15 - 3, max: 2 ** 15 + 5000 });
/** Rows and columns of at least 2^15 values. */
const matrix = fc
  .integer({ min: 1, max: 260 })
  .chain((columns) => fc.tuple(fc.constant(columns), fc.integer({ min: 0, max: 70 })))
  .map(([columns, more]) => [Math.ceil(2 ** 15 / columns) + more, columns] as const);
/** Three sizes whose product is at least 2^20. */
const product = fc
  .tuple(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 300 }))
  .map(([m, k]) => [m, Math.ceil(2 ** 20 / m / k), k] as const)
  .filter(([, n]) => n < 6000);

/** Images and a window over them: the 13 numbers of a `Window`. */
const windows = fc
  .record({
    images: fc.integer({ min: 2, max: 9 }),
    height: fc.integer({ min: 12, max: 40 }),
    width: fc.integer({ min: 12, max: 40 }),
    channels: fc.integer({ min: 1, max: 20 }),
    kernel: fc.integer({ min: 2, max: 5 }),
    stride: fc.integer({ min: 1, max: 2 }),
    pad: fc.integer({ min: 0, max: 1 }),
  })
  .map(({ images, height, width, channels, kernel, stride, pad }) => {
    const [outHeight, outWidth] = [height, width].map((side) => Math.floor((side + 2 * pad - kernel) / stride) + 1);
    const numbers = [height, width, channels, outHeight, outWidth, kernel, kernel, stride, stride, 1, 1, pad, pad];
    const positions = outHeight * outWidth;
    return {
      images,
      channels,
      window: { window: numbers },
      positions,
      inputs: height * width * channels,
      depth: kernel * kernel * channels,
    };
  })
  .filter(({ images, positions, depth }) => images * positions * depth >= 2 ** 15);

type Windowed = typeof windows extends fc.Arbitrary<infer Drawn> ? Drawn : never;
const windowed = (of: (drawn: Windowed) => Argument[]): fc.Arbitrary<Argument[]> => windows.map(of);
const calls: Record<Name, fc.Arbitrary<Argument[]>> = {
  gemm: fc.tuple(product, fc.nat(1), fc.nat(1), fc.nat(1)).map(([[m, n, k], transposeA, transposeB, accumulate]) => [
    transposeA, transposeB, m, n, k, array(m * k), transposeA ? m : k, array(k * n), transposeB ? k : n, array(m * n), n,
    accumulate, scratch(2 ** 19),
  ]), // prettier-ignore
  multiplyPacked: fc.tuple(product, fc.nat(1)).map(([[m, n, k], accumulate]) => [
    m, n, k, array(m * k), k, array((n + 8) * k), array(m * n), n, accumulate, scratch(2 ** 19),
  ]), // prettier-ignore
  im2col: windowed(({ images, inputs, positions, depth, window }) => [
    array(images * inputs), window, 1, images * positions - 1, array(images * positions * depth),
  ]), // prettier-ignore
  col2im: windowed(({ images, inputs, positions, depth, window }) => [
    array(images * positions * depth), window, 1, images * positions - 1, array(images * inputs),
  ]), // prettier-ignore
  maxPool: windowed(({ images, inputs, positions, channels, window }) => [
    array(images * inputs), array(images * positions * channels), window, images * positions,
  ]), // prettier-ignore
  avgPool: windowed(({ images, inputs, positions, channels, window }) => [
    array(images * inputs), array(images * positions * channels), window, images * positions,
  ]), // prettier-ignore
  maxPoolGradient: windowed(({ images, inputs, positions, channels, window }) => [
    array(images * inputs), array(images * positions * channels), array(images * positions * channels),
    array(images * inputs), window, images * positions, scratch(channels),
  ]), // prettier-ignore
  avgPoolGradient: windowed(({ images, inputs, positions, channels, window }) => [
    array(images * positions * channels), array(images * inputs), window, images * positions,
  ]), // prettier-ignore
  depthwise: windowed(({ images, inputs, positions, channels, depth, window }) => [
    array(images * inputs), array(2 * depth), array(images * positions * 2 * channels), window, 2, images * positions,
  ]), // prettier-ignore
  depthwiseInputGradient: windowed(({ images, inputs, positions, channels, depth, window }) => [
    array(images * positions * channels), array(depth), array(images * inputs), window, 1, images * positions,
  ]), // prettier-ignore
  addBias: matrix.map(([rows, columns]) => [array(rows * columns), array(columns), rows, columns, 1]),
  scaleColumns: matrix.map(([rows, columns]) => [
    array(rows * columns), rows, columns, array(columns), array(columns), array(rows * columns),
  ]), // prettier-ignore
  combineColumns: matrix.map(([rows, columns]) => [
    array(rows * columns), array(rows * columns), rows, columns, array(columns), array(columns), array(columns),
    array(rows * columns),
  ]), // prettier-ignore
  normalizeRows: matrix.map(([rows, columns]) => [
    array(rows * columns), rows, columns, array(columns), array(columns), 1e-3, array(rows), array(rows),
    array(rows * columns),
  ]), // prettier-ignore
  columnMoments: matrix.map(([rows, columns]) => [
    array(rows * columns), rows, columns, columns, array(columns), array(columns), scratch(6 * columns),
  ]), // prettier-ignore
  columnSlopes: matrix.map(([rows, columns]) => [
    array(rows * columns), array(rows * columns), rows, columns, columns, array(columns), array(columns), array(columns),
    scratch(6 * columns),
  ]), // prettier-ignore
  sumAxis: matrix.chain(([rows, columns]) =>
    fc
      .integer({ min: 2, max: 5 })
      .map((outer) => [array(outer * rows * columns), outer, rows, columns, 0.5, array(outer * columns)]),
  ),
  maxAxis: matrix.chain(([rows, columns]) =>
    fc
      .integer({ min: 2, max: 5 })
      .map((outer) => [array(outer * rows * columns), outer, rows, columns, array(outer * columns)]),
  ),
  clip: size.map((n) => [array(n), n, -0.5, 0.5, array(n)]),
  tanh: size.map((n) => [array(n), n, array(n)]),
  gelu: size.map((n) => [array(n), n, array(n), array(n)]),
  swish: size.map((n) => [array(n), n, array(n), array(n)]),
  gradientOfRelu: size.map((n) => [array(n), array(n), n, array(n)]),
  gradientOfSigmoid: size.map((n) => [array(n), array(n), n, array(n)]),
  gradientOfTanh: size.map((n) => [array(n), array(n), n, array(n)]),
  addTo: size.map((n) => [array(n), array(n), n]),
  divideBy: size.map((n) => [array(n), 3, n]),
  updateAdam: size.map((n) => [
    ...Array.from({ length: 4 }, () => array(n)), n, 0.9, 0.1, 0.99, 0.01, 0.001, 1e-7, 0.999, 0.01,
    ...Array.from({ length: 3 }, () => array(n)),
  ]), // prettier-ignore
  updateSgd: size.map((n) => [array(n), array(n), array(n), n, 0.01, 0.9, 0.01, 1, array(n), array(n)]),
  updateRmsprop: size.map((n) => [
    array(n), array(n), array(n), 0, array(n), n, 0.9, 0.1, 0.01, 1e-7, 0, 0.01, array(n), array(n), 0, array(n),
  ]), // prettier-ignore
  updateLion: size.map((n) => [array(n), array(n), array(n), n, 0.9, 0.1, 0.99, 0.01, 0.001, 0.9, array(n), array(n)]),
  directLamb: size.map((n) => [
    ...Array.from({ length: 4 }, () => array(n)), n, 0.9, 0.1, 0.99, 0.01, 1, 1e-7, 0.01, array(n), array(n), array(n),
  ]), // prettier-ignore
};

let memory: TensorMemory;
let alone: KernelModule;
let shared: KernelModule;

beforeAll(async () => {
  await startBackend('wasm', { threads: 3 });
  memory = new TensorMemory(tf.backend() as BackendWasm);
  const loaded = await loadKernels(memory.wasmMemory, 'relaxed');
  alone = loaded.exports;
  shared = new KernelThreads(3, memory, [loaded]).spread(alone);
});

/** The bits of all arrays after a call; they begin with the same values at each call. */
function call(kernels: KernelModule, name: Name, values: readonly Argument[]): Int32Array[] {
  const places = values.map((value, i) => {
    if (typeof value === 'number') return value;
    const size = 'window' in value ? 20 : value.values;
    const address = memory.allocate(4 * size);
    if ('window' in value) memory.integers(address, size).set(value.window);
    // Above 0, as variances and squares are.
    else memory.floats(address, size).set(spread(size, i).map((value) => value + 1.1));
    return address;
  });
  const kernel: Kernel = kernels[name];
  kernel(...places);
  return values.flatMap((value, i) => {
    if (typeof value === 'number') return [];
    const bits = 'window' in value || value.isScratch ? [] : [memory.integers(places[i], value.values).slice()];
    memory.free(places[i]);
    return bits;
  });
}

it.each(Object.keys(rules) as Name[])('%s has the same bits by three threads as by one', (name) => {
  fc.assert(
    fc.property(calls[name], (values) => {
      expect(call(shared, name, values)).toEqual(call(alone, name, values));
    }),
    { ...propertyOptions, numRuns: 5 },
  );
});
