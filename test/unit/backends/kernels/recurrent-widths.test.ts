import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { TensorInfo } from '@tensorflow/tfjs-core';
import type { WasmRuntime } from '../../../../workers/backends/wasm/kernel.ts';
import type { Determinism } from '../../../../workers/backends/wasm/kernel-module.ts';
import { loadWideKernels } from '../../../../workers/backends/wasm/wide-gemm.ts';
import { recurrentKernels } from '../../../../workers/backends/wasm/recurrent/kernels.ts';
import { tf } from '../../../../workers/tensorflow/tf.ts';
import { propertyOptions, spread } from './fill.ts';
import { kernelsAlone } from '../memory/wasm-memory.ts';

const gates = { Lstm: 4, Gru: 3, Simple: 1 };

const layers = fc.record({
  kind: fc.constantFrom('Lstm' as const, 'Gru' as const, 'Simple' as const),
  batch: fc.integer({ min: 1, max: 7 }),
  length: fc.integer({ min: 1, max: 4 }),
  units: fc.integer({ min: 1, max: 27 }),
  activation: fc.integer({ min: 0, max: 4 }),
  gateActivation: fc.integer({ min: 0, max: 4 }),
});
type Layer = typeof layers extends fc.Arbitrary<infer L> ? L : never;

/** All values that a layer and its gradients return. */
function compute(runtime: WasmRuntime, { kind, batch, length, units, activation, gateActivation }: Layer) {
  const { memory } = runtime;
  const width = gates[kind] * units;
  const place = (shape: number[], seed: number): TensorInfo => {
    const tensor = memory.output(shape);
    const size = tf.util.sizeFromShape(shape);
    memory.floats(memory.address(tensor), size).set(spread(size, seed));
    return tensor;
  };
  const inputs = {
    x: place([batch, length, 3], 1),
    kernel: place([3, width], 2),
    recurrent: place([units, width], 3),
    bias: place([width], 4),
  };
  const attributes = { activation, gateActivation, goBackwards: false };
  const run = (name: string, given: Record<string, TensorInfo>) =>
    recurrentKernels[name](runtime, given, attributes) as TensorInfo[];
  const [hidden, ...kept] = run(`${kind}Sequence`, inputs);
  const names = { Lstm: ['gates', 'cells'], Gru: ['gates', 'resets'], Simple: ['gates'] }[kind];
  const known = Object.fromEntries(names.map((name, i) => [name, kept[i]]));
  const dy = place([batch, length, units], 5);
  const pulled = run(`${kind}SequenceGradient`, { ...inputs, ...known, hidden, dy });
  const results = [hidden, ...kept, ...pulled];
  const values = results.map((tensor) =>
    memory.floats(memory.address(tensor), tf.util.sizeFromShape(tensor.shape)).slice(),
  );
  for (const tensor of [...Object.values(inputs), dy, ...results]) memory.dispose(tensor);
  return values;
}

it.each(['deterministic', 'relaxed'] as Determinism[])(
  'steps of recurrent layers have the same bits in 128-bit and 256-bit instructions (%s)',
  async (determinism) => {
    const { kernels, memory, narrow } = await kernelsAlone(determinism);
    const { exports: wide } = await loadWideKernels(memory.wasmMemory, determinism);
    const runtime = { memory, kernels, determinism, ...narrow };
    fc.assert(
      fc.property(layers, (layer) => {
        const expected = compute({ ...runtime, recurrent: kernels }, layer);
        expect(compute({ ...runtime, recurrent: wide }, layer)).toEqual(expected);
      }),
      propertyOptions,
    );
  },
);
