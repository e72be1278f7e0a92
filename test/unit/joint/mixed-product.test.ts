import { expect, it } from 'vitest';
import { mixedProductLoss, productLoss } from '../../../workers/strategies/joint/product.ts';

it('the product of experts of mixed samples has the cross-entropy of labels λ·own + (1 − λ)·partner', () => {
  // Two samples with equal logits of three classes: log q = −log 3, and (q − p) / (M·B) with M = 2, B = 2.
  const sum = new Float32Array(6);
  const batch = { targets: Int32Array.of(0, 2), mixed: { share: 0.75, partner: { targets: Int32Array.of(1, 2) } } };
  const { loss, gradient } = mixedProductLoss(sum, batch, 2);
  expect(loss).toBeCloseTo(Math.log(3), 6);
  const expected = [1 / 3 - 0.75, 1 / 3 - 0.25, 1 / 3, 1 / 3, 1 / 3, 1 / 3 - 1].map((value) => value / 4);
  gradient.forEach((value, i) => expect(value).toBeCloseTo(expected[i], 6));
  expect(mixedProductLoss(sum, { targets: batch.targets }, 2)).toEqual(productLoss(sum, batch.targets, 2));
});
