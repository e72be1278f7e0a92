import { expect, test } from 'vitest';
import { bestTrial, errorOf, leftOutGains } from '../../../examples/03_hpo_ensemble/choices.ts';
import { publishedSplit, torchPermutation } from '../../../examples/03_hpo_ensemble/split.ts';
import { createDataset } from '../../../workers/data/dataset.ts';

// torch.randperm(length, generator=torch.Generator().manual_seed(seed)) of PyTorch 2.15: its first and last five
// numbers.
test.each([
  [10, 0, [4, 1, 7, 5, 3], [9, 0, 8, 6, 2]],
  [1599, 1, [1579, 1234, 1040, 923, 7], [113, 557, 1312, 437, 1035]],
  [9568, 2, [1864, 9025, 4063, 3262, 4602], [3048, 9063, 789, 763, 7327]],
])('permutes %i rows as PyTorch with the seed %i', (length, seed, first, last) => {
  const order = torchPermutation(length, seed);
  expect([...order.subarray(0, 5)]).toEqual(first);
  expect([...order.subarray(-5)]).toEqual(last);
  expect(new Set(order).size).toBe(length);
});

test('trains on the first 80 % of the permutation', () => {
  const column = Float32Array.from({ length: 10 }, (_, row) => row);
  const table = createDataset({ name: 'rows', featureShape: [1], features: column, targets: column });
  const { train, validation } = publishedSplit(table, 0);
  expect([...train.targets]).toEqual([4, 1, 7, 5, 3, 9, 0, 8]);
  expect([...(validation?.targets ?? [])]).toEqual([6, 2]);
});

// Weak decay: diverse members. The third split alone prefers the strong one for the ensemble too.
const weak = { weightDecay: 0.1, ensemble: [1, 2, 6], meanMember: [5, 5, 9] };
const strong = { weightDecay: 1, ensemble: [3, 3, 4], meanMember: [4, 4, 5] };
const diverged = { weightDecay: 30, ensemble: [0, 0, NaN], meanMember: [0, 0, NaN] };

test('chooses by the mean over splits, and passes over a trial that diverged', () => {
  expect(bestTrial([diverged, weak, strong], 'ensemble')).toBe(weak);
  expect(bestTrial([diverged, strong, weak], 'meanMember')).toBe(strong);
  expect(() => bestTrial([diverged], 'ensemble')).toThrow('No trial has a finite MSE');
});

test('a gain is judged on the split that did not choose', () => {
  // Without split 0 both means are 4 and 3.5: strong for both, no gain. Without 1: 3.5 and 3.5, the first one wins.
  // Without 2: weak.
  expect(leftOutGains([weak, strong])).toEqual([0, 3 - 2, 4 - 6]);
});

test('the standard error is s / √n', () => {
  // s² = ((1 - 3)² + 0 + (5 - 3)²) / 2 = 4, so 2 / √3.
  expect(errorOf([1, 3, 5])).toBeCloseTo(1.154700538, 9);
  expect(errorOf([1])).toBeNaN();
});
