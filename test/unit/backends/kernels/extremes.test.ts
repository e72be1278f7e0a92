import { beforeAll, describe, expect, it } from 'vitest';
import { tf, type Tensor } from '../../../../workers/tensorflow/tf.ts';
import { startSubject, subjects } from '../definitions/compare.ts';

const valuesOf = (compute: () => Tensor): number[] => tf.tidy(() => [...compute().dataSync()]);

describe.each(subjects)('on %s', (subject) => {
  beforeAll(() => startSubject(subject));

  it('equal extremes share the gradient evenly, as in TensorFlow and PyTorch’s amax', () => {
    const x = [
      [2, 1, 2, 2],
      [1, 5, 3, 5],
    ];
    const ofMax = tf.grad((t) => tf.max(t, 1));
    expect(valuesOf(() => ofMax(tf.tensor2d(x), tf.tensor1d([3, 4])))).toEqual([1, 0, 1, 1, 0, 2, 0, 2]);
    const ofMin = tf.grad((t) => tf.min(t, 0, true));
    expect(valuesOf(() => ofMin(tf.tensor2d(x), tf.tensor2d([[1, 2, 3, 4]])))).toEqual([0, 2, 3, 4, 1, 0, 0, 0]);
    const ofNaN = tf.grad((t) => tf.max(t));
    expect(valuesOf(() => ofNaN(tf.tensor1d([1, NaN])))).toEqual([NaN, NaN]);
  });

  it('gradients of extremes and squared differences are summed over broadcast axes', () => {
    const [a, b, dy] = [tf.tensor2d([[1, 5, NaN]]), tf.tensor2d([[2], [3]]), tf.tensor2d([1, 2, 4, 8, 16, 32], [2, 3])];
    const gradients = (op: (x: Tensor, y: Tensor) => Tensor): number[][] =>
      tf.tidy(() =>
        tf
          .grads((x, y) => op(x, y))([a, b], dy)
          .map((tensor) => [...tensor.dataSync()]),
      );
    // PyTorch also passes the slope to both operands where one is NaN.
    expect(gradients((x, y) => tf.maximum(x, y))).toEqual([
      [0, 18, 36],
      [1 + 4, 8 + 32],
    ]);
    expect(gradients((x, y) => tf.minimum(x, y))).toEqual([
      [9, 0, 36],
      [2 + 4, 16 + 32],
    ]);
    const [ofA, ofB] = gradients((x, y) => tf.squaredDifference(x, y));
    expect(ofA).toEqual([2 * (1 * -1 + 8 * -2), 2 * (2 * 3 + 16 * 2), NaN]);
    expect(ofB).toEqual([NaN, NaN]);
  });

  it.each([
    { bias: [1], expected: [13, 14, 15, 16, 17, 18] },
    { bias: [2, 1], expected: [13, 14, 15, 26, 27, 28] },
    { bias: [2, 3], expected: [13, 24, 35, 46, 57, 68] },
    { bias: [3], expected: [13, 24, 35, 16, 27, 38] },
  ])('fused products add a bias of shape $bias as tf.add would', ({ bias, expected }) => {
    const values = Array.from({ length: tf.util.sizeFromShape(bias) }, (_, i) => 10 * (i + 1));
    const a = tf.tensor2d([3, 4, 5, 6, 7, 8], [2, 3]);
    const identity = tf.eye(3);
    expect(valuesOf(() => tf.fused.matMul({ a, b: identity, bias: tf.tensor(values, bias) }))).toEqual(expected);
  });
});
