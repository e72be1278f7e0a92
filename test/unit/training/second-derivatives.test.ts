import { beforeAll, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { tf } from '../../../workers/tensorflow/tf.ts';
import { gaussianNllLoss } from '../../../workers/member/tasks.ts';

beforeAll(async () => void (await startBackend('wasm')));

it('on wasm, differentiating the gradient of the Gaussian NLL gives 2 / σ² for the mean', () => {
  tf.tidy(() => {
    const [variance, target] = [tf.tensor2d([[4]]), tf.tensor2d([[1]])];
    const slope = tf.grad((mean) => gaussianNllLoss(mean, variance, target));
    expect(slope(tf.tensor2d([[7]])).dataSync()[0]).toBeCloseTo((2 * (7 - 1)) / 4, 6);
    expect(
      tf
        .grad((mean) => slope(mean).sum())(tf.tensor2d([[7]]))
        .dataSync()[0],
    ).toBeCloseTo(2 / 4, 6);
  });
});
