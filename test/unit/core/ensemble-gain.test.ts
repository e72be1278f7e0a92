import { expect, it } from 'vitest';
import { estimate, isBeyondNoise } from '../../../core/numeric/estimate.ts';
import type { EvaluatedSet } from '../../../core/protocol/run/record.ts';
import { describeGain } from '../../../core/protocol/run/ensemble-gain.ts';

const base = { set: 'ensemble-best', split: 'test', epochs: [9, 9, 9] } as const;
const of = (ensemble: EvaluatedSet['ensemble'], members: EvaluatedSet['members']): EvaluatedSet => ({
  ...base,
  ranks: [0, 1, 2],
  epochs: [...base.epochs],
  ensemble,
  members,
});

it('says in three sentences what a classifier gains', () => {
  const found = of(
    { nll: 0.2, acc: 0.96, ece: 0.01 },
    { nll: [0.3, 0.31, 0.32], acc: [0.93, 0.94, 0.935], ece: [0.03, 0.031, 0.032] },
  );
  expect(describeGain(found)).toEqual([
    'The ensemble (ensemble-best) predicts the test split better than each of its 3 members: its NLL is 0.2000, ' +
      'theirs 0.3100 on average and 0.3000 at best.',
    'The gap between its confidence and its accuracy (ECE) is 0.01000, theirs 0.03100 on average.',
    'Its share of right answers is 96.0 %, theirs 93.5 % on average.',
  ]);
});

it('claims nothing within the spread of the members, and nothing of the best one where it is better', () => {
  // Differences 0.1, 0.0, 0.2: their mean is 0.1, its error 0.0577, and t with 2 degrees of freedom 4.303.
  const [within] = describeGain(of({ nll: 0.2 }, { nll: [0.3, 0.2, 0.4] }));
  expect(within).toContain('about as well as its 3 members, as far as their spread tells');
  const [onAverage] = describeGain(of({ nll: 0.2 }, { nll: [0.19, 0.26, 0.26, 0.26, 0.26, 0.26] }));
  expect(onAverage).toContain(
    'better than its 6 members do on average: its NLL is 0.2000, theirs 0.2483 on average and 0.1900 at best.',
  );
});

it('says where the members are better', () => {
  const found = of({ nll: 0.2, acc: 0.9 }, { nll: [0.31, 0.3, 0.3], acc: [0.95, 0.951, 0.949] });
  expect(describeGain(found)[1]).toBe(
    'Its share of right answers is 90.0 %, theirs 95.0 % on average, which is better than the ensemble.',
  );
  expect(describeGain(of({ nll: 0.4 }, { nll: [0.31, 0.3, 0.3] }))[0]).toContain('worse than its 3 members');
});

it('compares what answers: the product of jointly trained members', () => {
  const found = of({ nll: 0.2, product_nll: 0.1 }, { nll: [0.31, 0.3, 0.3] });
  expect(describeGain(found)[0]).toContain('The product of experts (ensemble-best)');
  expect(describeGain(found)[0]).toContain('its NLL is 0.1000');
});

it('compares the squared error of a regression once, and names the split', () => {
  const found = { ...of({ mse: 1 }, { mse: [2, 2.1, 2] }), split: 'validation' as const };
  expect(describeGain(found)).toEqual([
    'The ensemble (ensemble-best) predicts the validation split better than each of its 3 members: its MSE is ' +
      '1.000, theirs 2.033 on average and 2.000 at best.',
  ]);
});

it('says nothing of a single member, without scores, and of scores that are not finite', () => {
  expect(describeGain(of({ nll: 0.2 }, { nll: [0.2] }))).toEqual([]);
  expect(describeGain(of({ disagreement: 0.2 }, {}))).toEqual([]);
  expect(describeGain(of({ nll: 0.2 }, { nll: [0.2, NaN, 0.3] }))).toEqual([]);
});

it('knows what is beyond noise: the 95 % interval of Student', () => {
  // Student's sleep data: SciPy's ttest_1samp gives t = 4.0621 with 9 degrees of freedom, p = 0.0028; of the first drug
  // t = 1.3257, p = 0.2176.
  expect(isBeyondNoise(estimate([1.2, 2.4, 1.3, 1.3, 0, 1, 1.8, 0.8, 4.6, 1.4]))).toBe(true);
  expect(isBeyondNoise(estimate([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2]))).toBe(false);
  expect(isBeyondNoise(estimate([5]))).toBe(false);
  expect(isBeyondNoise(estimate([]))).toBe(false);
  expect(isBeyondNoise(estimate([0.5, 0.5]))).toBe(true);
  expect(isBeyondNoise(estimate([0, 0]))).toBe(false);
});
