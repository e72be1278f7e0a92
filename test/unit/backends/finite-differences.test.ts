import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { Generator } from '../../../workers/random/index.ts';
import { tf, type Tensor } from '../../../workers/tensorflow/tf.ts';

/**
 * Gradients of the wasm backend against central differences of its own forward pass: nothing that other backends might have wrong alike.
 */
beforeAll(async () => void (await startBackend('wasm')));

type Apply = (inputs: Tensor[]) => Tensor;

const cases: [string, number[][], Apply][] = [
  [
    'conv2d, stride 2, same',
    [
      [2, 5, 4, 3],
      [3, 3, 3, 2],
    ],
    ([x, w]) => tf.conv2d(x as never, w as never, 2, 'same'),
  ],
  [
    'conv2d, strides 3 and 1, valid',
    [
      [1, 7, 5, 2],
      [2, 3, 2, 5],
    ],
    ([x, w]) => tf.conv2d(x as never, w as never, [3, 1], 'valid'),
  ],
  [
    'conv2d, dilations 2 and 3',
    [
      [1, 6, 8, 2],
      [3, 2, 2, 3],
    ],
    ([x, w]) => tf.conv2d(x as never, w as never, 1, 'same', 'NHWC', [2, 3]),
  ],
  [
    'conv2d, explicit padding',
    [
      [1, 4, 4, 2],
      [3, 3, 2, 2],
    ],
    ([x, w]) =>
      tf.conv2d(x as never, w as never, 1, [
        [0, 0],
        [2, 0],
        [1, 2],
        [0, 0],
      ]),
  ],
  [
    'conv2d 1x1',
    [
      [2, 3, 3, 4],
      [1, 1, 4, 5],
    ],
    ([x, w]) => tf.conv2d(x as never, w as never, 1, 'valid'),
  ],
  [
    'conv2dTranspose',
    [
      [1, 3, 2, 2],
      [3, 3, 3, 2],
    ],
    ([x, w]) => tf.conv2dTranspose(x as never, w as never, [1, 6, 4, 3], 2, 'same'),
  ],
  [
    'depthwiseConv2d',
    [
      [2, 5, 4, 3],
      [3, 2, 3, 2],
    ],
    ([x, w]) => tf.depthwiseConv2d(x as never, w as never, [2, 1], 'same'),
  ],
  [
    'depthwiseConv2d, dilated',
    [
      [1, 6, 6, 5],
      [2, 2, 5, 1],
    ],
    ([x, w]) => tf.depthwiseConv2d(x as never, w as never, 1, 'valid', 'NHWC', [2, 3]),
  ],
  [
    'conv3d',
    [
      [1, 4, 3, 3, 2],
      [2, 2, 2, 2, 2],
    ],
    ([x, w]) => tf.conv3d(x as never, w as never, 1, 'same'),
  ],
  ['maxPool, overlapping', [[2, 5, 5, 3]], ([x]) => tf.maxPool(x as never, 3, 2, 'same')],
  ['maxPool, apart', [[1, 7, 6, 5]], ([x]) => tf.maxPool(x as never, 2, 3, 'valid')],
  ['avgPool, over padding', [[1, 5, 4, 5]], ([x]) => tf.avgPool(x as never, 3, 2, 'same')],
  ['maxPool3d', [[1, 4, 4, 4, 2]], ([x]) => tf.maxPool3d(x as never, 2, 2, 'same')],
  ['resizeBilinear', [[1, 3, 4, 2]], ([x]) => tf.image.resizeBilinear(x as never, [5, 3])],
  ['resizeNearestNeighbor', [[2, 3, 2, 3]], ([x]) => tf.image.resizeNearestNeighbor(x as never, [6, 5])],
  ['prelu', [[3, 4], [4]], ([x, slope]) => tf.prelu(x, slope)],
  ['batchNorm', [[4, 3], [3], [3]], ([x, scale, offset]) => normalise(x, scale, offset)],
];

/** Normalised by statistics of the batch itself. */
function normalise(x: Tensor, scale: Tensor, offset: Tensor): Tensor {
  const { mean, variance } = tf.moments(x, [0]);
  return tf.batchNorm(x, mean, variance, offset, scale);
}

describe('gradients are central differences', () => {
  it.each(cases)('%s', (name, shapes, apply) => {
    const random = new Generator(11, name);
    const values = shapes.map((shape) => drawDistinct(random, tf.util.sizeFromShape(shape)));
    const tensors = (of: Float32Array[]): Tensor[] => of.map((data, i) => tf.tensor(data, shapes[i]));
    const weights = drawDistinct(random, apply(tensors(values)).size);
    const objective = (of: Float32Array[]): number => {
      const y = Float32Array.from(apply(tensors(of)).dataSync());
      return y.reduce((sum, value, i) => sum + value * weights[i], 0);
    };
    const dy = tf.tensor(weights, apply(tensors(values)).shape);
    const gradients = tf.grads((...inputs: Tensor[]) => apply(inputs))(tensors(values), dy);
    gradients.forEach((gradient, input) => {
      gradient.dataSync().forEach((found, i) => {
        const at = (step: number) =>
          objective(values.map((data, k) => (k === input ? data.with(i, data[i] + step) : data)));
        const expected = (at(0.005) - at(-0.005)) / 0.01;
        expect(Math.abs(found - expected), `input ${input}, value ${i}: ${found} is not ${expected}`).toBeLessThan(
          0.01,
        );
      });
    });
  });
});

/** Values at least 0.02 apart, in random order, so that no step turns a maximum into another. */
function drawDistinct(random: Generator, count: number): Float32Array {
  const spacing = Math.max(0.02, 1 / count);
  return Float32Array.from(random.permutation(count), (place) => (place - count / 2 + 0.5) * spacing);
}
