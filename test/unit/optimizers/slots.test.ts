import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  packBfloat16,
  packedLength,
  roundingKey,
  unpackBfloat16,
} from '../../../core/compression/stochastic-rounding.ts';
import { optimizerSchema, type RuleConfig } from '../../../core/protocol/run/optimizer-config.ts';
import type { NamedTensor } from '../../../core/safetensors/safetensors.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { readTensors } from '../../../workers/member/weights.ts';
import { createOptimizer } from '../../../workers/optimizers/optimizers.ts';
import { Bfloat16Slots } from '../../../workers/optimizers/slots/bfloat16-slots.ts';
import { FileSlots } from '../../../workers/optimizers/slots/file-slots.ts';
import { Packing } from '../../../workers/optimizers/slots/packing.ts';
import { type SlotStorage, TensorSlots } from '../../../workers/optimizers/slots/slot-storage.ts';
import { holdTensors, releaseTensors } from '../../../workers/tensorflow/tensor-values.ts';
import { tf } from '../../../workers/tensorflow/tf.ts';

const folder = mkdtempSync(join(tmpdir(), 'tutti-slots-'));
afterAll(() => rmSync(folder, { recursive: true }));

const kinds: RuleConfig[] = [
  { kind: 'adam' },
  { kind: 'sgd', momentum: 0.9 },
  { kind: 'sgd' },
  { kind: 'rmsprop', momentum: 0.9, centered: true },
  { kind: 'lion' },
  { kind: 'lamb' },
].map((config) => optimizerSchema.parse(config));

interface Trained {
  /** After each step. */
  weights: number[][];
  slots: NamedTensor[];
}

/** Trains two variables for some steps, with gradients that are functions of the step. */
async function train(config: RuleConfig, storage: SlotStorage, size: number, steps = 4): Promise<Trained> {
  const shapes = [[size], [2, size]];
  const variables = shapes.map((shape) => tf.tidy(() => tf.variable(tf.ones(shape), false)));
  const optimizer = createOptimizer(config, variables, storage);
  const weights: number[][] = [];
  for (let step = 0; step < steps; step++) {
    const values = (count: number) => Float32Array.from({ length: count }, (_, i) => Math.cos(i + 3 * step));
    const gradients = shapes.map((shape) => tf.tensor(values(tf.util.sizeFromShape(shape)), shape));
    tf.tidy(() => optimizer.apply(gradients, { learningRate: 0.1 }));
    tf.dispose(gradients);
    weights.push(variables.flatMap((variable) => [...variable.dataSync()]));
  }
  const slots = storage.files?.read() ?? (await readTensors(storage.tensors));
  tf.dispose([...variables, ...storage.tensors.values()]);
  return { weights, slots };
}

const packed = () => new FileSlots(folder, new Packing(5));

describe.each(['cpu', 'wasm'] as const)('an optimizer’s state on %s', (backend) => {
  beforeAll(async () => void (await startBackend(backend)));

  it.each(kinds)('has the same bits in a file, as float32 and as bfloat16: $kind', async (config) => {
    const { numTensors } = tf.memory();
    const inFile = new FileSlots(folder, null);
    expect(await train(config, inFile, 9)).toEqual(await train(config, new TensorSlots(), 9));
    inFile.dispose();
    const packedInFile = packed();
    expect(await train(config, packedInFile, 9)).toEqual(await train(config, new Bfloat16Slots(5), 9));
    packedInFile.dispose();
    expect(tf.memory().numTensors).toBe(numTensors);
    // The file has no name, so nothing is left of a process that is killed.
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is what stochastic rounding makes of the float32 update, word for word', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 70 }), fc.nat(1000), async (size, seed) => {
        const adam = optimizerSchema.parse({ kind: 'adam' });
        const exact = await train(adam, new TensorSlots(), size, 1);
        const { slots } = await train(adam, new Bfloat16Slots(seed), size, 1);
        expect(slots.map(({ name }) => name)).toEqual(['mean.0', 'mean.1', 'square.0', 'square.1']);
        for (const [i, { name, data }] of slots.entries()) {
          const words = new Int32Array(packedLength(exact.slots[i].data.length));
          packBfloat16(exact.slots[i].data as Float32Array, roundingKey(seed, name, 1), words);
          expect(data).toEqual(words);
        }
      }),
      { seed: 3, numRuns: 10 },
    );
  });

  it('packs and unpacks any bits as core does, in place or beside held words', () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 0xffffffff }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(sizes, fc.nat(1000), fc.boolean(), (bits, number, isHeld) => {
        const values = new Float32Array(Uint32Array.from(bits).buffer);
        const packing = new Packing(1);
        const words = packing.create([values.length]);
        const held = isHeld ? holdTensors(new Map([['words', words]])) : new Map();
        const tensor = tf.tensor1d(values);
        packing.pack('values', number, tensor, words);
        const expected = new Int32Array(packedLength(values.length));
        packBfloat16(values, roundingKey(1, 'values', number), expected);
        expect(words.dataSync()).toEqual(expected);
        for (const before of held.values()) expect([...before.dataSync()]).toEqual([...expected].fill(0));
        const unpacked = packing.unpack(words, [1, values.length]);
        const wanted = new Float32Array(values.length);
        unpackBfloat16(expected, wanted);
        expect(new Int32Array(unpacked.dataSync<'float32'>().slice().buffer)).toEqual(new Int32Array(wanted.buffer));
        releaseTensors(held);
        tf.dispose([tensor, words, unpacked]);
      }),
      { seed: 9, numRuns: 40 },
    );
  });

  it('in a file takes the values of a state, and refuses another one’s', () => {
    const slots = new FileSlots(folder, null);
    slots.add('mean.0', [2, 3]);
    const data = Float32Array.of(1, 2, 3, NaN, -0, Infinity);
    slots.files.write([{ name: 'mean.0', dtype: 'F32', shape: [2, 3], data }], 'The state');
    expect(slots.files.read()).toEqual([{ name: 'mean.0', dtype: 'F32', shape: [2, 3], data }]);
    const other: NamedTensor = { name: 'mean.0', dtype: 'F32', shape: [6], data };
    expect(() => slots.files.write([other], 'The state')).toThrow('The state does not fit');
    slots.dispose();
  });
});
