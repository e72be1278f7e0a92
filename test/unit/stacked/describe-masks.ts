import { beforeAll, describe, expect, it } from 'vitest';
import { type BackendKind, startBackend } from '../../../workers/backends/backend.ts';
import type { Batch } from '../../../workers/data/dataset.ts';
import { Generator } from '../../../workers/random/index.ts';
import { type LayersModel, type SymbolicTensor, tf } from '../../../workers/tensorflow/tf.ts';
import { createMembers, largestDifference, slotsOf, train, weightsOf } from './stacks.ts';

const { layers } = tf;
const [size, length, words] = [6, 5, 7];

/** Sentences of 1 to 5 words, filled up with zeros, and two further numbers for each sample. */
function sentences(seed: number): Batch {
  const generator = new Generator(seed, 'sentences');
  const features = new Float32Array(size * length);
  for (let sample = 0; sample < size; sample++) {
    const count = 1 + generator.integer(length);
    for (let at = 0; at < count; at++) features[sample * length + at] = 1 + generator.integer(words - 1);
  }
  const targets = Int32Array.from({ length: size }, () => generator.integer(3));
  const about = Float32Array.from({ length: 2 * size }, () => generator.normal());
  const extraInputs = { about: { shape: [2], values: about } };
  return { features, featureShape: [size, length], targets, targetShape: [size], extraInputs };
}

type Layers = LayersModel['layers'];
const sequential = (...stack: Layers): LayersModel => tf.sequential({ layers: stack });
const embedding = (maskZero = true) =>
  layers.embedding({ inputDim: words, outputDim: 4, inputLength: length, maskZero });

/** Models whose layers all run member by member: each member's numbers are those of the member alone. */
const exact: Record<string, () => LayersModel> = {
  'an embedding that masks, and an LSTM': () => sequential(embedding(), layers.lstm({ units: 3 })),
  'two recurrent layers in a row': () =>
    sequential(embedding(), layers.gru({ units: 4, returnSequences: true }), layers.simpleRNN({ units: 3 })),
  'both directions': () =>
    sequential(embedding(), layers.bidirectional({ layer: layers.lstm({ units: 3 }), mergeMode: 'sum' })),
  'a causal convolution': () =>
    sequential(
      embedding(false),
      layers.conv1d({ filters: 3, kernelSize: 2, padding: 'causal', dilationRate: 2 }),
      layers.globalAveragePooling1d({}),
    ),
};

/** Models with layers that are one computation, whose sums round differently. */
const close: Record<string, () => LayersModel> = {
  'masks pass through dense layers, dropout and activations': () =>
    sequential(
      embedding(),
      layers.dense({ units: 4 }),
      layers.activation({ activation: 'tanh' }),
      layers.dropout({ rate: 0.3 }),
      layers.lstm({ units: 5 }),
      layers.dense({ units: 3 }),
    ),
  'the mean of the words that count': () =>
    sequential(embedding(), layers.globalAveragePooling1d({}), layers.dense({ units: 3 })),
  'values that are masked': () =>
    sequential(
      layers.reshape({ targetShape: [length, 1], inputShape: [length] }),
      layers.masking({}),
      layers.gru({ units: 4 }),
      layers.dense({ units: 3 }),
    ),
  'two inputs': () => {
    const text = tf.input({ shape: [length] });
    const about = tf.input({ shape: [2], name: 'about' });
    const read = layers.lstm({ units: 4 }).apply(embedding().apply(text)) as SymbolicTensor;
    const joined = layers.concatenate().apply([read, layers.dense({ units: 2 }).apply(about) as SymbolicTensor]);
    return tf.model({ inputs: [about, text], outputs: layers.dense({ units: 3 }).apply(joined) as SymbolicTensor });
  },
};

async function trainBoth(create: () => LayersModel, sharesBatches: boolean) {
  const batchOf = (member: number, step: number): Batch => sentences(step * 10 + (sharesBatches ? 0 : member));
  const [alone, stacked] = [
    await createMembers({ create, sharesBatches }, false),
    await createMembers({ create, sharesBatches }, true),
  ];
  const losses = [await train(alone, batchOf, { to: 6 }), await train(stacked, batchOf, { to: 6 })];
  return { alone, stacked, losses };
}

/** A process has one backend, so each backend has its own test file. */
export function describeMasks(backend: BackendKind): void {
  describe(`stacked members with masks and several inputs on ${backend}`, () => {
    beforeAll(async () => void (await startBackend(backend)));

    it.each(Object.keys(exact))('have the bits of separate ones: %s', async (name) => {
      const { alone, stacked } = await trainBoth(exact[name], false);
      expect(stacked.map(weightsOf)).toEqual(alone.map(weightsOf));
      expect(stacked.map(slotsOf)).toEqual(alone.map(slotsOf));
    });

    it.each(Object.keys(close).flatMap((name) => [true, false].map((shares) => [name, shares] as const)))(
      'equal separate ones up to rounding: %s, common batches: %s',
      async (name, sharesBatches) => {
        const { alone, stacked, losses } = await trainBoth(close[name], sharesBatches);
        stacked.forEach((member, m) => {
          expect(largestDifference(weightsOf(member), weightsOf(alone[m]))).toBeLessThan(1e-5);
          losses[1][m].forEach(({ loss }, step) => expect(loss).toBeCloseTo(losses[0][m][step].loss, 5));
        });
      },
    );
  });
}
