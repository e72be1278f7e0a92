import { startBackend } from '../backends/backend.ts';
import { tf, type Tensor } from '../tensorflow/tf.ts';

/**
 * Computes a product and a gradient on a native backend that the environment names, and prints the backend's
 * description.
 */

const { description } = await startBackend(process.argv[2] === 'webgpu' ? 'webgpu' : 'tensorflow');
const matrix: Tensor = tf.tensor2d([1, 2, 3, 4], [2, 2]);
const gradient = tf.grad((x) => tf.sum(tf.square(tf.matMul(x, x))))(matrix);
const values = Array.from(await gradient.data());
// d/dX sum((XX)^2) = 2 (XX) X' + 2 X' (XX), by hand for X = [[1, 2], [3, 4]].
const expected = [158, 274, 266, 482];
if (values.some((value, i) => Math.abs(value - expected[i]) > 1e-3)) {
  throw new Error(`${description} computes ${values.join(', ')}; expected ${expected.join(', ')}.`);
}
console.log(description);
