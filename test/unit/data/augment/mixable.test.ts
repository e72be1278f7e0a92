import { beforeAll, describe, expect, it } from 'vitest';
import { runConfigSchema } from '../../../../core/protocol/run/config.ts';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { createDataset, type Dataset } from '../../../../workers/data/dataset.ts';
import { requireMixable } from '../../../../workers/session/preparation/require-usable-data.ts';
import { fitTokenizer } from '../../../../workers/data/text/fit-tokenizer.ts';
import { textDataset } from '../../../../workers/data/text/text-dataset.ts';
import { type LayersModel, type SymbolicTensor, tf } from '../../../../workers/tensorflow/tf.ts';

beforeAll(async () => void (await startBackend('cpu')));

const { dense, embedding, flatten, reshape, timeDistributed, concatenate } = tf.layers;
const values = (own: Partial<Dataset> = {}) =>
  createDataset({
    name: 'samples',
    featureShape: [3],
    features: new Float32Array(6),
    targets: Int32Array.of(0, 1),
    ...own,
  });
const ids = () => embedding({ inputDim: 9, outputDim: 2, name: 'words' });
const check = (model: LayersModel, train: Dataset, augmentation: object = { mixup: 0.2 }) =>
  requireMixable(runConfigSchema.parse({ augmentation }), model, train);
const plain = () => tf.sequential({ layers: [dense({ units: 2, inputShape: [3] })] });

/** Features [3] and an input "note" of one number, which an embedding reads if asked. */
function twoInputs(readsIds: boolean): LayersModel {
  const features = tf.input({ shape: [3] });
  const note = tf.input({ shape: [1], name: 'note' });
  const read = readsIds ? (flatten().apply(ids().apply(note)) as SymbolicTensor) : note;
  const both = concatenate().apply([features, read]) as SymbolicTensor;
  return tf.model({ inputs: [features, note], outputs: dense({ units: 2 }).apply(both) as SymbolicTensor });
}
const note = (own: Float32Array | Int32Array | Uint8Array) =>
  values({ extraInputs: { note: { shape: [1], values: own } } });

describe('mixing of samples', () => {
  it.each<[string, () => LayersModel]>([
    [
      'first',
      () => tf.sequential({ layers: [embedding({ inputDim: 9, outputDim: 2, inputLength: 3, name: 'words' })] }),
    ],
    [
      'after layers that change the shape',
      () => tf.sequential({ layers: [reshape({ targetShape: [3, 1], inputShape: [3] }), ids()] }),
    ],
    [
      'in a nested model, for each step',
      () => {
        const inner = tf.sequential({
          layers: [embedding({ inputDim: 9, outputDim: 2, inputLength: 1, name: 'words' })],
        });
        return tf.sequential({
          layers: [reshape({ targetShape: [3, 1], inputShape: [3] }), timeDistributed({ layer: inner })],
        });
      },
    ],
  ])('is refused where an embedding reads the features: %s', (_, create) => {
    const train = values();
    expect(() => check(create(), train)).toThrow(
      '--augmentation.mixup mixes the inputs of samples, but the layer "words" (Embedding) reads the ' +
        'features of "samples" as ids',
    );
    expect(() => check(create(), train, {})).not.toThrow();
  });

  it('is refused for texts, whatever reads their ids', () => {
    const texts = ['a b', 'b c'];
    const tokenizer = fitTokenizer(texts, { kind: 'word', size: 10 });
    const train = textDataset({ name: 'notes', texts, targets: Int32Array.of(0, 1), tokenizer, length: 3 });
    expect(() => check(plain(), train)).toThrow('the features of "notes" are ids of tokens');
  });

  it('is refused for further inputs of whole numbers, or that are read as ids', () => {
    expect(() => check(twoInputs(false), note(Int32Array.of(1, 2)))).toThrow(
      'the input "note" of "samples" holds whole numbers (Int32Array)',
    );
    expect(() => check(twoInputs(false), note(Uint8Array.of(1, 2)), { cutmix: 1 })).toThrow(
      '--augmentation.cutmix mixes the inputs of samples, but the input "note"',
    );
    expect(() => check(twoInputs(true), note(Float32Array.of(1, 2)))).toThrow(
      'the layer "words" (Embedding) reads the input "note" of "samples" as ids',
    );
  });

  it('is allowed for values', () => {
    expect(() => check(plain(), values())).not.toThrow();
    expect(() => check(twoInputs(false), note(Float32Array.of(1, 2)))).not.toThrow();
  });
});
