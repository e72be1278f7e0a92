import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { tf, type Tensor } from '../../../../workers/tensorflow/tf.ts';
import { spread } from './fill.ts';

beforeAll(async () => void (await startBackend('wasm')));

describe('dropout in training', () => {
  it.each([0.25, 0.5, 0.9])(
    'of rate %d zeroes that share and divides the rest by the kept share, also in its gradient',
    (rate) => {
      const values = spread(4000, 1);
      const layer = tf.layers.dropout({ rate, seed: 3 });
      const apply = (x: Tensor): Tensor => layer.apply(x, { training: true }) as Tensor;
      const x = tf.tensor(values);
      const y = apply(x).dataSync();
      const factors = [...values].map((value, i) => (y[i] === 0 ? 0 : y[i] / value));
      const gradient = tf.grad(apply)(x, tf.onesLike(x)).dataSync();
      factors.forEach((factor, i) => {
        expect(factor === 0 || Math.abs(factor * (1 - rate) - 1) < 1e-5).toBe(true);
        expect(gradient[i]).toBeCloseTo(factor, 4);
      });
      // Four standard deviations of the binomial share.
      const share = factors.filter((factor) => factor === 0).length / factors.length;
      expect(Math.abs(share - rate)).toBeLessThan(4 * Math.sqrt((rate * (1 - rate)) / factors.length));
    },
  );
});
