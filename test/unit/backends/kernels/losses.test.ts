import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { tf, type Tensor } from '../../../../workers/tensorflow/tf.ts';
import { crossEntropyLoss, gaussianNllLoss } from '../../../../workers/member/tasks.ts';
import { expectLikeCpu } from './compare.ts';

beforeAll(async () => void (await startBackend('wasm')));

const valueOf = (loss: () => Tensor): number => tf.tidy(() => loss().dataSync()[0]);

describe('cross-entropy in one kernel', () => {
  it.each([
    [1, 2],
    [7, 3],
    [20, 10],
    [5, 33],
  ])('equals the value and gradient of the ops: %i samples, %i classes', async (samples, classes) => {
    const labels = Array.from({ length: samples }, (_, i) => (i * 7) % classes);
    // Also larger logits, and gradients of a tenth.
    await expectLikeCpu([[samples, classes]], (logits) =>
      crossEntropyLoss(tf.mul(logits, 10), tf.tensor1d(labels, 'int32')),
    );
  });

  it('is log 2 for two equally likely classes, and exact for logits whose exp() would overflow', () => {
    const of = (logits: number[][], labels: number[]) => () =>
      crossEntropyLoss(tf.tensor2d(logits), tf.tensor1d(labels, 'int32'));
    expect(valueOf(of([[3, 3]], [1]))).toBeCloseTo(Math.log(2), 7);
    expect(valueOf(of([[1000, 0]], [0]))).toBe(0);
    expect(valueOf(of([[1000, 0]], [1]))).toBe(1000);
    expect(valueOf(of([[NaN, 0]], [1]))).toBeNaN();
  });
});

describe('Gaussian NLL in one kernel', () => {
  it.each([1, 4, 21])('equals the value and gradients of the ops: %i samples', async (samples) => {
    const targets = Array.from({ length: samples }, (_, i) => i / 4 - 1);
    await expectLikeCpu(
      [
        [samples, 1],
        [samples, 1],
      ],
      (mean, raw) => gaussianNllLoss(mean, tf.add(tf.softplus(raw), 0.1), tf.tensor1d(targets)),
    );
  });

  it('is log σ² + (y − μ)²/σ² by hand, and NaN for a negative variance', () => {
    const of = (variance: number) => () =>
      gaussianNllLoss(tf.tensor2d([[1]]), tf.tensor2d([[variance]]), tf.tensor1d([3]));
    expect(valueOf(of(4))).toBeCloseTo(Math.log(4) + 1, 6);
    expect(valueOf(of(1e-30))).toBeCloseTo(4e30, -25);
    expect(valueOf(of(-1))).toBeNaN();
  });
});
