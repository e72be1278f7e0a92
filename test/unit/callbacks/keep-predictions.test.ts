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
    expect(keeper.state()).toEqual({ best: 1 });
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
