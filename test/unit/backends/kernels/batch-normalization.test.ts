import { beforeAll, expect, it } from 'vitest';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { tf, type Tensor } from '../../../../workers/tensorflow/tf.ts';

beforeAll(async () => void (await startBackend('wasm', { determinism: 'deterministic' })));

type Options = Parameters<typeof tf.layers.batchNormalization>[0];

/**
 * Trains on `x` `[R, C]` with ε = 0. Returns y, the gradients of Σ dy y for x and the layer's weights, and the moving
 * averages.
 */
function step(x: number[][], dy: number[][], options: Options = {}) {
  return tf.tidy(() => {
    const layer = tf.layers.batchNormalization({ epsilon: 0, momentum: 0.5, inputShape: [x[0].length], ...options });
    const images = tf.tensor2d(x);
    const forward = (input: Tensor) => layer.apply(input, { training: true }) as Tensor;
    const y = forward(images);
    const statistics = layer.nonTrainableWeights.map((weight) => [...weight.read().dataSync()]);
    const loss = (input: Tensor) => tf.sum(tf.mul(forward(input), tf.tensor2d(dy)));
    const dx = tf.grad(loss)(images);
    const ofWeights = tf.variableGrads(() => tf.sum(tf.mul(forward(images), tf.tensor2d(dy)))).grads;
    const read = (tensor: Tensor) => [...tensor.dataSync()];
    return {
      y: read(y),
      dx: read(dx),
      ofWeights: Object.values(ofWeights).map(read),
      statistics,
    };
  });
}

// Columns (-1, 3) and (2, 2 + 2k): means 1 and 2 + k, variances 4 and k².
const x = [[-1, 2], [3, 10]]; // prettier-ignore

it('subtracts the mean and divides by the standard deviation of each column', () => {
  const { y, statistics } = step(x, [[0, 0], [0, 0]]); // prettier-ignore
  expect(y).toEqual([-1, -1, 1, 1]);
  // Half of their earlier values (0 and 1), half of the batch's: means 1 and 6, variances 4 and 16.
  expect(statistics).toEqual([[0.5, 3], [2.5, 8.5]]); // prettier-ignore
});

it('gives the gradients of the definition', () => {
  // Three rows, so that dx does not vanish: x = (-1, 0, 1) √1.5 has mean 0 and variance 1. With dy = (1, 0, 0): D = 1,
  // E = -√1.5, dx = dy - 1/3 - x E/3 = (1 - 1/3 - 1/2, -1/3, -1/3 + 1/2).
  const spread = Math.sqrt(1.5);
  const { dx, ofWeights } = step([[-spread], [0], [spread]], [[1], [0], [0]]);
  for (const [i, expected] of [1 / 6, -1 / 3, 1 / 6].entries()) expect(dx[i]).toBeCloseTo(expected, 6);
  expect(ofWeights[0][0]).toBeCloseTo(-spread, 6);
  expect(ofWeights[1]).toEqual([1]);
});

it('keeps the precision of the variance of values far from zero', () => {
  const rows = Array.from({ length: 1000 }, (_, i) => [16_384 + (i % 2)]);
  const { statistics } = step(
    rows,
    rows.map(() => [0]),
  );
  expect(statistics).toEqual([[8192.25], [0.5 + 0.125]]);
});

it('works without a scale, unlike TensorFlow.js’s layer', () => {
  const { y, ofWeights } = step(x, [[0, 1], [2, 3]], { scale: false }); // prettier-ignore
  expect(y).toEqual([-1, -1, 1, 1]);
  expect(ofWeights).toEqual([[2, 4]]);
});
