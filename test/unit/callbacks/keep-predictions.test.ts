import { describe, expect, it } from 'vitest';
import { KeepPredictions } from '../../../workers/callbacks/keep-predictions.ts';
import { evaluationOf, FakeTraining, showSeries } from './fakes.ts';

describe('KeepPredictions', () => {
  it('saves those of the best evaluation', async () => {
    const training = new FakeTraining();
    const keeper = new KeepPredictions({ which: 'best', monitor: 'val/ens_nll' });
    await showSeries(keeper, training, 'val/ens_nll', [2, 3, 1]);
    await keeper.onFitEnd(training);
    expect(training.keptPredictions.map(({ name }) => name)).toEqual(['best', 'best']);
    expect(keeper.state()).toEqual({ best: 1, monitor: 'val/ens_nll' });
  });

  it.each([
    // Accuracies of 0.5 and 0.6 are no worse than an NLL of 1, which is another metric.
    ['val/ens_acc', 'max', [0.5, 0.4, 0.6], ['best', 'best']],
    ['val/ens_acc', 'max', [1.5, 0.4, 0.6], ['best']],
    ['val/ens_nll', 'min', [1.5, 0.9, 1.2], ['best']],
  ] as const)('compares with its best of before a resume only values of the same metric: %s', async (...given) => {
    const [monitor, mode, values, kept] = given;
    const before = new KeepPredictions({ which: 'best', monitor: 'val/ens_nll' });
    await showSeries(before, new FakeTraining(), 'val/ens_nll', [2, 1]);
    const training = new FakeTraining();
    const after = new KeepPredictions({ which: 'best', monitor, mode });
    after.restore(before.state());
    await showSeries(after, training, monitor, [...values]);
    expect(training.keptPredictions.map(({ name }) => name)).toEqual(kept);
  });

  it('takes the saved value of a version that did not save its metric as one of its own', async () => {
    const training = new FakeTraining();
    const keeper = new KeepPredictions({ which: 'best', monitor: 'val/ens_nll' });
    keeper.restore({ best: 1 });
    await showSeries(keeper, training, 'val/ens_nll', [1.5, 0.5]);
    expect(training.keptPredictions).toHaveLength(1);
  });

  it('saves those of all evaluations under their epochs, and the last ones', async () => {
    const training = new FakeTraining();
    const keeper = new KeepPredictions({ which: 'all', monitor: 'val/ens_nll' });
    const values = (value: number) => ({
      kind: 'values' as const,
      samples: 1,
      width: 1,
      values: [Float32Array.of(value)],
    });
    for (const epoch of [0, 1])
      await keeper.onEvaluation(training, evaluationOf({}, { epoch, predictions: values(epoch) }));
    await keeper.onFitEnd(training);
    expect(training.keptPredictions).toEqual([
      { name: 'epoch-00000', predictions: values(0) },
      { name: 'epoch-00001', predictions: values(1) },
      { name: 'last', predictions: values(1) },
    ]);
  });
});
