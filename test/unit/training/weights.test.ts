import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { tf } from '../../../workers/tensorflow/tf.ts';
import {
  largestProduct,
  parameterCount,
  readWeights,
  weightNames,
  writeWeights,
} from '../../../workers/member/weights.ts';

beforeAll(async () => void (await startBackend('cpu')));

const mlp = (units = 4) =>
  tf.sequential({
    layers: [
      tf.layers.dense({ units, inputShape: [2] }),
      tf.layers.batchNormalization(),
      tf.layers.dense({ units: 3, name: 'head', useBias: false }),
      tf.layers.dense({ units: 1 }),
    ],
  });

const convolutional = () =>
  tf.sequential({
    layers: [
      tf.layers.conv2d({ filters: 2, kernelSize: 3, inputShape: [5, 5, 1] }),
      tf.layers.depthwiseConv2d({ kernelSize: 3 }),
      tf.layers.flatten(),
      tf.layers.dense({ units: 1 }),
    ],
  });

const recurrent = () =>
  tf.sequential({
    layers: [
      tf.layers.bidirectional({
        layer: tf.layers.simpleRNN({ units: 2, recurrentInitializer: 'glorotUniform' }),
        mergeMode: 'concat',
        inputShape: [3, 1],
      }),
    ],
  });

describe('weightNames', () => {
  it.each([
    ['dense layers', mlp],
    ['convolutions', convolutional],
    ['layers that wrap others', recurrent],
  ])('of %s are distinct and do not depend on how many models were built before', (_, create) => {
    const first = weightNames(create());
    create();
    expect(weightNames(create())).toEqual(first);
    expect(new Set(first).size).toBe(first.length);
  });

  it("are the project's names where it set them, or else type and position", () => {
    expect(weightNames(mlp())).toEqual([
      'dense_0/kernel',
      'dense_0/bias',
      'batch_normalization_0/gamma',
      'batch_normalization_0/beta',
      'batch_normalization_0/moving_mean',
      'batch_normalization_0/moving_variance',
      'head/kernel',
      'dense_1/kernel',
      'dense_1/bias',
    ]);
    expect(weightNames(convolutional()).slice(0, 2)).toEqual(['conv2d_0/kernel', 'conv2d_0/bias']);
  });
});

describe('weights of a model', () => {
  it('fit another model of the same architecture, including weights that are not trained', async () => {
    const [from, to] = [mlp(), mlp()];
    tf.tidy(() => from.setWeights(from.getWeights().map((weight, i) => tf.fill(weight.shape, i + 0.5))));
    writeWeights(to, await readWeights(from), 'checkpoint');
    expect(to.getWeights().map((weight) => weight.dataSync()[0])).toEqual([
      0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5,
    ]);
    // 2*4 + 4, batch normalization 4*4, 4*3, 3*1 + 1
    expect(parameterCount(from)).toBe(12 + 16 + 12 + 4);
  });

  it('of a model with wrapped layers load back one by one', async () => {
    const [from, to] = [recurrent(), recurrent()];
    tf.tidy(() => from.setWeights(from.getWeights().map((weight, i) => tf.fill(weight.shape, i + 1))));
    writeWeights(to, await readWeights(from), 'checkpoint');
    expect(to.getWeights().map((weight) => weight.dataSync()[0])).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('are copies: further training does not change them', async () => {
    const model = mlp();
    const [kernel] = await readWeights(model);
    const before = [...kernel.data];
    tf.tidy(() => model.setWeights(model.getWeights().map((weight) => tf.zerosLike(weight))));
    expect([...kernel.data]).toEqual(before);
  });

  it('leak no tensor', async () => {
    const model = mlp();
    const weights = await readWeights(model);
    const { numTensors } = tf.memory();
    writeWeights(model, await readWeights(model), 'checkpoint');
    writeWeights(model, weights, 'checkpoint');
    expect(tf.memory().numTensors).toBe(numTensors);
  });

  it('of another model are refused, naming the differences', async () => {
    const weights = await readWeights(mlp());
    const remedy = 'Load it with the project and hyperparameters that it was saved with.';
    expect(() => writeWeights(mlp(5), weights, 'rank-0/final')).toThrow(
      `rank-0/final does not fit this model: "dense_0/kernel" is [2, 4], the model's is [2, 5]. ${remedy}`,
    );
    expect(() => writeWeights(mlp(), weights.slice(1), 'x')).toThrow(
      'x does not fit this model: it lacks "dense_0/kernel".',
    );
    expect(() => writeWeights(convolutional(), weights, 'x')).toThrow(
      'it has "batch_normalization_0/gamma", which the model lacks',
    );
  });
});

describe('the largest product of a model', () => {
  it('is that of a dense layer, or of a convolution with all its positions', () => {
    // 5 samples, 2 inputs, 4 units; 5 · 4 · 3; 5 · 3 · 1
    expect(largestProduct(mlp(), 5)).toBe(5 * 4 * 3);
    const convolved = tf.sequential({
      layers: [
        tf.layers.conv2d({ filters: 6, kernelSize: 3, strides: 2, padding: 'same', inputShape: [8, 8, 2] }),
        tf.layers.flatten(),
        tf.layers.dense({ units: 2 }),
      ],
    });
    // 5 samples, 4 x 4 positions, 3 x 3 x 2 inputs, 6 filters
    expect(largestProduct(convolved, 5)).toBe(5 * 16 * 18 * 6);
    expect(largestProduct(tf.sequential({ layers: [tf.layers.flatten({ inputShape: [2, 2] })] }), 5)).toBe(0);
  });
});
