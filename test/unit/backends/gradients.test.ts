import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { tf, type Tensor } from '../../../workers/tensorflow/tf.ts';
import { expectLikeCpu } from './kernels/compare.ts';

beforeAll(async () => void (await startBackend('wasm')));

const valuesOf = (compute: () => Tensor): number[] => tf.tidy(() => [...compute().dataSync()]);

describe('gradients', () => {
  it.each([[[3]], [[4]], [[2, 9]], [[3, 4, 5]]])('of ReLU, shape %j', async (shape) => {
    await expectLikeCpu([shape], (x) => tf.relu(x));
  });

  it('of a product with a broadcast operand are summed over the copies', () => {
    const weights = tf.tensor2d([[1, 2]]);
    const stack = tf.tensor3d([[[1], [2]], [[3], [4]]]); // prettier-ignore
    // d/dw of the sum of x w over two matrices: the column sums of x, 10 in all, for each column of w.
    const gradient = valuesOf(() => tf.grad((w: Tensor) => tf.sum(tf.matMul(stack, w)))(weights));
    expect(gradient).toEqual([10, 10]);
    tf.dispose([weights, stack]);
  });

  it('have gradients: the second derivative of x³ is 6x, of relu(x)² it is 2 above zero', () => {
    const [cube, square] = [tf.tensor1d([1, -2]), tf.tensor1d([3, -1])];
    const second = (f: (x: Tensor) => Tensor, x: Tensor) => valuesOf(() => tf.grad(tf.grad(f))(x));
    expect(second((x) => tf.mul(x, tf.mul(x, x)), cube)).toEqual([6, -12]);
    expect(second((x) => tf.square(tf.relu(x)), square)).toEqual([2, 0]);
    tf.dispose([cube, square]);
  });

  it('leak no tensor', () => {
    const x = tf.ones([3, 3]);
    const before = tf.memory();
    tf.dispose(tf.grad((value: Tensor) => tf.sum(tf.relu(tf.matMul(value, value))))(x));
    expect(tf.memory().numTensors).toBe(before.numTensors);
    expect(tf.memory().numDataBuffers).toBe(before.numDataBuffers);
    x.dispose();
  });
});
