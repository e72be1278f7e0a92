import { describe, expect, it } from 'vitest';
import { PerRankBestCheckpoint, PerRankCheckpoint } from '../../../workers/callbacks/per-rank-checkpoint.ts';
import { FakeTraining, showSeries } from './fakes.ts';

describe('PerRankBestCheckpoint', () => {
  it('saves the weights at every improvement of the ensemble, with the score', async () => {
    const training = new FakeTraining();
    const best = new PerRankBestCheckpoint({ monitor: 'val/ens_nll', name: 'ensemble-best' });
    await showSeries(best, training, 'val/ens_nll', [3, 4, NaN, 2, 2, 1]);
    expect(training.saved.map(({ epoch, score }) => [epoch, score])).toEqual([
      [0, 3],
      [3, 2],
      [5, 1],
    ]);
    expect(training.saved[0]).toMatchObject({ name: 'ensemble-best', monitor: 'val/ens_nll' });
  });

  it('monitors the metric of its rank if the monitor contains {rank}, and larger values with mode max', async () => {
    const training = new FakeTraining({ rank: 2 });
    const best = new PerRankBestCheckpoint({ monitor: 'val/member_{rank}_acc', name: 'member-best' });
    await showSeries(best, training, 'val/member_2_acc', [0.5, 0.4, 0.6]);
    expect(training.saved.map(({ epoch, monitor }) => [epoch, monitor])).toEqual([
      [0, 'val/member_2_acc'],
      [2, 'val/member_2_acc'],
    ]);
  });

  it('does not overwrite the best of the previous attempt', async () => {
    const before = new PerRankBestCheckpoint({ monitor: 'm', mode: 'min', name: 'best' });
    await showSeries(before, new FakeTraining(), 'm', [1]);
    const after = new PerRankBestCheckpoint({ monitor: 'm', mode: 'min', name: 'best' });
    after.restore(JSON.parse(JSON.stringify(before.state())));
    const training = new FakeTraining();
    await showSeries(after, training, 'm', [1.5, 0.5]);
    expect(training.saved.map(({ score }) => score)).toEqual([0.5]);
  });

  it('resets after a resume that monitors another metric', async () => {
    const before = new PerRankBestCheckpoint({ monitor: 'm', mode: 'min', name: 'best' });
    await showSeries(before, new FakeTraining(), 'm', [1]);
    const after = new PerRankBestCheckpoint({ monitor: 'other', mode: 'min', name: 'best' });
    after.restore(JSON.parse(JSON.stringify(before.state())));
    const training = new FakeTraining();
    await showSeries(after, training, 'other', [3, 4]);
    expect(training.saved.map(({ score }) => score)).toEqual([3]);
  });
});

describe('PerRankCheckpoint', () => {
  async function train(checkpoint: PerRankCheckpoint, epochs: number): Promise<string[]> {
    const training = new FakeTraining();
    for (let epoch = 0; epoch < epochs; epoch++) {
      training.epoch = epoch;
      await checkpoint.onEpochEnd(training);
    }
    await checkpoint.onFitEnd(training);
    return training.saved.map(({ name }) => name);
  }

  it('saves the final weights, or none', async () => {
    expect(await train(new PerRankCheckpoint(), 3)).toEqual(['final']);
    expect(await train(new PerRankCheckpoint({ final: false }), 3)).toEqual([]);
  });

  it('saves one at an interval of epochs, with names in the order of the epochs', async () => {
    const names = await train(new PerRankCheckpoint({ everyEpochs: 2 }), 5);
    expect(names).toEqual(['epoch-00001', 'epoch-00003', 'final']);
  });
});
