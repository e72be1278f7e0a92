import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { Generator } from '../../../../workers/random/index.ts';
import { tf, type Tensor } from '../../../../workers/tensorflow/tf.ts';
import * as op from '../../../reference/elementwise.ts';
import { batchNormalization } from '../../../reference/normalization.ts';
import { sizeOf, Value } from '../../../reference/value.ts';
import * as reference from '../../../reference/windows.ts';
import { linear, nearest, resize } from '../op-matrix/cases/resize.ts';
import { expectClose } from './compare.ts';

/**
 * Gradients of the wasm backend against central differences of the forward pass in test/reference, in float64: neither
 * side uses a formula for a gradient that could share its mistake with the backend.
 */
beforeAll(async () => void (await startBackend('wasm')));

type Apply = (inputs: Tensor[]) => Tensor;
type Define = (inputs: Value[]) => Value;

const windowsOf = (
  window: number[],
  strides: number[],
  padding: reference.Padding,
  dilations = window.map(() => 1),
): reference.Windows => ({ window, strides, padding, dilations });

const convolution =
  (...options: Parameters<typeof windowsOf>): Define =>
  ([x, filter]) =>
    reference.convolution(x, filter, windowsOf(...options));
const depthwise =
  (...options: Parameters<typeof windowsOf>): Define =>
  ([x, filter]) =>
    reference.depthwiseConvolution(x, filter, windowsOf(...options));
const topLeft = { alignCorners: false, halfPixelCenters: false };

const cases: [string, number[][], Apply, Define][] = [
  [
    'conv2d, stride 2, same',
    [
      [2, 5, 4, 3],
      [3, 3, 3, 2],
    ],
    ([x, w]) => tf.conv2d(x as never, w as never, 2, 'same'),
    convolution([3, 3], [2, 2], 'same'),
  ],
  [
    'conv2d, strides 3 and 1, valid',
    [
      [1, 7, 5, 2],
      [2, 3, 2, 5],
    ],
    ([x, w]) => tf.conv2d(x as never, w as never, [3, 1], 'valid'),
    convolution([2, 3], [3, 1], 'valid'),
  ],
  [
    'conv2d, dilations 2 and 3',
    [
      [1, 6, 8, 2],
      [3, 2, 2, 3],
    ],
    ([x, w]) => tf.conv2d(x as never, w as never, 1, 'same', 'NHWC', [2, 3]),
    convolution([3, 2], [1, 1], 'same', [2, 3]),
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
    convolution(
      [3, 3],
      [1, 1],
      [
        [2, 0],
        [1, 2],
      ],
    ),
  ],
  [
    'conv2d 1x1',
    [
      [2, 3, 3, 4],
      [1, 1, 4, 5],
    ],
    ([x, w]) => tf.conv2d(x as never, w as never, 1, 'valid'),
    convolution([1, 1], [1, 1], 'valid'),
  ],
  [
    'conv2dTranspose',
    [
      [1, 3, 2, 2],
      [3, 3, 3, 2],
    ],
    ([x, w]) => tf.conv2dTranspose(x as never, w as never, [1, 6, 4, 3], 2, 'same'),
    ([x, filter]) => reference.transposedConvolution(x, filter, [6, 4], windowsOf([3, 3], [2, 2], 'same')),
  ],
  [
    'depthwiseConv2d',
    [
      [2, 5, 4, 3],
      [3, 2, 3, 2],
    ],
    ([x, w]) => tf.depthwiseConv2d(x as never, w as never, [2, 1], 'same'),
    depthwise([3, 2], [2, 1], 'same'),
  ],
  [
    'depthwiseConv2d, dilated',
    [
      [1, 6, 6, 5],
      [2, 2, 5, 1],
    ],
    ([x, w]) => tf.depthwiseConv2d(x as never, w as never, 1, 'valid', 'NHWC', [2, 3]),
    depthwise([2, 2], [1, 1], 'valid', [2, 3]),
  ],
  [
    'conv3d',
    [
      [1, 4, 3, 3, 2],
      [2, 2, 2, 2, 2],
    ],
    ([x, w]) => tf.conv3d(x as never, w as never, 1, 'same'),
    convolution([2, 2, 2], [1, 1, 1], 'same'),
  ],
  [
    'maxPool, overlapping',
    [[2, 5, 5, 3]],
    ([x]) => tf.maxPool(x as never, 3, 2, 'same'),
    ([x]) => reference.maxPool(x, windowsOf([3, 3], [2, 2], 'same')),
  ],
  [
    'maxPool, apart',
    [[1, 7, 6, 5]],
    ([x]) => tf.maxPool(x as never, 2, 3, 'valid'),
    ([x]) => reference.maxPool(x, windowsOf([2, 2], [3, 3], 'valid')),
  ],
  [
    'avgPool, over padding',
    [[1, 5, 4, 5]],
    ([x]) => tf.avgPool(x as never, 3, 2, 'same'),
    ([x]) => reference.averagePool(x, windowsOf([3, 3], [2, 2], 'same')),
  ],
  [
    'maxPool3d',
    [[1, 4, 4, 4, 2]],
    ([x]) => tf.maxPool3d(x as never, 2, 2, 'same'),
    ([x]) => reference.maxPool(x, windowsOf([2, 2, 2], [2, 2, 2], 'same')),
  ],
  [
    'resizeBilinear',
    [[1, 3, 4, 2]],
    ([x]) => tf.image.resizeBilinear(x as never, [5, 3]),
    ([x]) => resize(x, 5, 3, linear(topLeft)),
  ],
  [
    'resizeNearestNeighbor',
    [[2, 3, 2, 3]],
    ([x]) => tf.image.resizeNearestNeighbor(x as never, [6, 5]),
    ([x]) => resize(x, 6, 5, nearest(topLeft)),
  ],
  ['prelu', [[3, 4], [4]], ([x, slope]) => tf.prelu(x, slope), ([x, slope]) => op.prelu(x, slope)],
  [
    'batchNorm',
    [[4, 3], [3], [3]],
    ([x, scale, offset]) => normalise(x, scale, offset),
    ([x, scale, offset]) => batchNormalization(x, scale, offset, { axes: [1], epsilon: 0.001 }),
  ],
];

/** Normalised by statistics of the batch. */
function normalise(x: Tensor, scale: Tensor, offset: Tensor): Tensor {
  const { mean, variance } = tf.moments(x, [0]);
  return tf.batchNorm(x, mean, variance, offset, scale);
}

/**
 * In float64: far above its rounding error, far below the distance of two values, and with a quadratic error if the op
 * is curved.
 */
const step = 1e-5;
/** Of each gradient's largest value: sums of some tens of float32 products. */
const tolerance = 2e-6;

describe('gradients equal central differences', () => {
  it.each(cases)('%s', (name, shapes, apply, define) => {
    const random = new Generator(11, name);
    const inputs = shapes.map((shape) => drawDistinct(random, sizeOf(shape)));
    const valueOf = (of: readonly ArrayLike<number>[]): Value =>
      define(of.map((data, k) => new Value(data, shapes[k])));
    const { shape, data } = valueOf(inputs);
    const weights = drawDistinct(random, data.length);
    const objective = (of: readonly ArrayLike<number>[]): number =>
      valueOf(of).data.reduce((sum, value, i) => sum + value * weights[i], 0);

    const tensors = inputs.map((values, k) => tf.tensor(values, shapes[k]));
    const gradients = tf.grads((...of: Tensor[]) => apply(of))(tensors, tf.tensor(weights, [...shape]));
    expect(gradients).toHaveLength(inputs.length);
    gradients.forEach((gradient, k) => {
      const expected = Float64Array.from(inputs[k], (_, i) => {
        const at = (offset: number): number =>
          objective(
            inputs.map((values, other) =>
              other === k ? Float64Array.from(values).with(i, values[i] + offset) : values,
            ),
          );
        return (at(step) - at(-step)) / (2 * step);
      });
      expectClose(`gradient of input ${k}`, gradient.dataSync(), expected, tolerance);
    });
  });
});

/**
 * Values at least 0.02 apart, in random order, so that no step changes which one is the maximum. None is closer to 0
 * than 0.01.
 */
function drawDistinct(random: Generator, count: number): Float32Array {
  const spacing = Math.max(0.02, 1 / count);
  return Float32Array.from(random.permutation(count), (place) => (place - Math.floor(count / 2) + 0.5) * spacing);
}
