import { expect, it } from 'vitest';
import { splitByMember } from '../../../workers/training/evaluate-sets.ts';

it('metrics of an evaluated set are those of the ensemble and of each rank by name, with NaN for a rank without one', () => {
  const metrics = new Map([
    ['ens_nll', 0.5],
    ['diversity', 0.25],
    ['member_3_nll', 3],
    ['member_1_nll', 1],
    ['member_3_acc', 0.75],
  ]);
  expect(splitByMember(metrics, [1, 3])).toEqual({
    ensemble: { nll: 0.5, diversity: 0.25 },
    members: { nll: [1, 3], acc: [NaN, 0.75] },
  });
});
