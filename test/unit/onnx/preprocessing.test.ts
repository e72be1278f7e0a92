import { beforeAll, describe, expect, it } from 'vitest';
import type { Preprocessing } from '../../../core/preprocessing/schema.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { fitTokenizer } from '../../../workers/data/index.ts';
import { tf } from '../../../workers/tensorflow/tf.ts';
import { about, fileOf, rounded, scaledBy } from './ensemble-files.ts';
import { runOnnx } from './run-onnx.ts';

beforeAll(() => startBackend('cpu'));

describe('preprocessing in an ONNX file', () => {
  it('takes columns of a table as they are, with missing values and categories', async () => {
    const columns: Extract<Preprocessing['steps'][number], { kind: 'table' }>['columns'] = [
      {
        name: 'year',
        type: 'number',
        impute: { value: 2000, indicator: true },
        mean: 2010,
        std: 0.5,
        smallest: 2009,
        largest: 2011,
      },
      { name: 'mean', type: 'category', impute: { value: 'b', indicator: true }, categories: ['a', 'b'] },
    ];
    const preprocessing: Preprocessing = { format: 1, steps: [{ kind: 'table', columns }] };
    const file = fileOf(about('regression', 1), [scaledBy(1, 5)], preprocessing);
    const { mean } = await runOnnx(file, {
      year: { shape: [3, 1], data: Float64Array.of(2010.1, NaN, 2011) },
      'input mean': { shape: [3, 1], data: ['a', '', 'unknown'] },
    });
    expect(rounded(mean.data)).toEqual([0.2, 0, 1, 0, 0, -20, 1, 0, 1, 1, 2, 0, 0, 0, 0]);
  });

  it('takes categories that begin like formulas as they are written', async () => {
    const column = { name: 'kind', type: 'category' as const, impute: null, categories: ['+', '=x'] };
    const preprocessing: Preprocessing = { format: 1, steps: [{ kind: 'table', columns: [column] }] };
    const file = fileOf(about('regression', 1), [scaledBy(1, 2)], preprocessing);
    const { mean } = await runOnnx(file, { kind: { shape: [4, 1], data: ['+', '=x', "'=x", "'+"] } });
    expect([...mean.data]).toEqual([1, 0, 0, 1, 0, 0, 0, 0]);
  });

  it.each([['first'], ['last']])('takes features before a standardization, %s of two inputs', async (place) => {
    const steps = [{ kind: 'standardize' as const, mean: [1], std: [2] }];
    const features = tf.input({ shape: [1], name: 'size' });
    const context = tf.input({ shape: [1], name: 'context' });
    const outputs = tf.layers.concatenate().apply([features, context]) as typeof features;
    const model = tf.model({ inputs: place === 'first' ? [features, context] : [context, features], outputs });
    const given = {
      size: { shape: [1, 1], data: Float32Array.of(7) },
      context: { shape: [1, 1], data: Float32Array.of(7) },
    };
    const kept: Preprocessing = { format: 1, steps, extraInputs: ['context', 'unused'] };
    const { mean } = await runOnnx(fileOf(about('regression', 1), [model], kept), given);
    expect([...mean.data]).toEqual([3, 7]);
    // Nothing says which input has the features.
    const { mean: before } = await runOnnx(fileOf(about('regression', 1), [model], { format: 1, steps }), given);
    expect([...before.data]).toEqual([7, 7]);
  });

  it('takes images as bytes', async () => {
    const preprocessing: Preprocessing = {
      format: 1,
      steps: [
        { kind: 'images', height: 1, width: 1, channels: 3, fit: 'cover' },
        { kind: 'standardize', mean: [0, 0.5, 1], std: [1, 0.5, 2] },
      ],
    };
    const model = tf.sequential({ layers: [tf.layers.flatten({ inputShape: [1, 1, 3] })] });
    const file = fileOf(about('regression', 1), [model], preprocessing);
    const { mean } = await runOnnx(file, { images: { shape: [1, 1, 1, 3], data: Uint8Array.of(255, 0, 51) } });
    expect(rounded(mean.data)).toEqual([1, -1, -0.4]);
  });

  it('takes columns as they are beside ids of texts', async () => {
    const number = { name: 'size', type: 'number' as const, impute: null, mean: 1, std: 2, smallest: -50, largest: 50 };
    const text = {
      name: 'words',
      tokenizer: fitTokenizer(['a b']).data,
      length: 2,
      padding: 'end' as const,
      impute: false,
      input: 'ids',
    };
    const preprocessing: Preprocessing = {
      format: 1,
      steps: [
        { kind: 'table', columns: [number] },
        { kind: 'texts', columns: [text] },
      ],
    };
    const ids = tf.input({ shape: [2], name: 'ids' });
    const size = tf.input({ shape: [1], name: 'others' });
    const embedding = tf.layers.embedding({ inputDim: 3, outputDim: 1 });
    const flat = tf.layers.flatten().apply(embedding.apply(ids)) as typeof size;
    const outputs = tf.layers.concatenate().apply([flat, size]) as typeof size;
    embedding.setWeights([tf.tensor2d([[10], [20], [30]])]);
    const file = fileOf(about('regression', 1), [tf.model({ inputs: [ids, size], outputs })], preprocessing);
    const { mean } = await runOnnx(file, {
      ids: { shape: [1, 2], data: BigInt64Array.of(2n, 0n) },
      size: { shape: [1, 1], data: Float64Array.of(7) },
    });
    expect([...mean.data]).toEqual([30, 10, 3]);
  });

  it('takes ids of embeddings as whole numbers', async () => {
    const layers = [tf.layers.embedding({ inputDim: 3, outputDim: 2, inputLength: 2 }), tf.layers.flatten()];
    const model = tf.sequential({ layers });
    layers[0].setWeights([
      tf.tensor2d([
        [1, 2],
        [3, 4],
        [5, 6],
      ]),
    ]);
    const file = fileOf(about('regression', 1), [model]);
    const { mean } = await runOnnx(file, { features: { shape: [1, 2], data: BigInt64Array.of(2n, 0n) } });
    expect([...mean.data]).toEqual([5, 6, 1, 2]);
  });
});
