import { expect, it } from 'vitest';
import { TopCheckpoints } from '../../../workers/callbacks/top-checkpoints.ts';
import { FakeTraining, showSeries } from './fakes.ts';

const plan = { monitor: 'val/ens_nll', mode: 'min', count: 2 } as const;

it('saves the evaluations that are among the best two so far', async () => {
  const training = new FakeTraining();
  await showSeries(new TopCheckpoints(plan), training, 'val/ens_nll', [3, 4, NaN, 2, 3.5, 1, 2]);
  expect(training.saved.map(({ name, score }) => [name, score])).toEqual([
    ['top-00000', 3],
    ['top-00001', 4],
    ['top-00003', 2],
    ['top-00005', 1],
  ]);
});

it('continues with the best ones of the previous attempt, unless another metric is monitored', async () => {
  const before = new TopCheckpoints(plan);
  await showSeries(before, new FakeTraining(), 'val/ens_nll', [1, 2]);
  const state: unknown = JSON.parse(JSON.stringify(before.state()));
  const [after, other] = [
    new TopCheckpoints(plan),
    new TopCheckpoints({ ...plan, monitor: 'val/ens_acc', mode: 'max' }),
  ];
  after.restore(state);
  other.restore(state);
  const [training, otherTraining] = [new FakeTraining(), new FakeTraining()];
  // These are the epochs 0 and 1 again: the first is worse than before, the second better.
  await showSeries(after, training, 'val/ens_nll', [1.5, 1.8]);
  await showSeries(other, otherTraining, 'val/ens_acc', [0.1, 0.2]);
  expect(training.saved.map(({ name }) => name)).toEqual(['top-00001']);
  expect(otherTraining.saved).toHaveLength(2);
});
