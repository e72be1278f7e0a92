import { describe, expect, it } from 'vitest';
import { EarlyStopping } from '../../../workers/callbacks/early-stopping.ts';
import { createInMemoryGroup } from '../relay/in-memory-group.ts';
import { FakeTraining, evaluationOf, showSeries } from './fakes.ts';

const nll = 'val/ens_nll';

describe('EarlyStopping', () => {
  it('votes for a stop exactly when its patience is used up', async () => {
    const stopping = new EarlyStopping({ monitor: nll, patience: 2 });
    const training = new FakeTraining();
    await showSeries(stopping, training, nll, [1, 0.5, 0.6]);
    expect(training.stopVotes).toBe(0);
    await showSeries(stopping, training, nll, [0.5]);
    expect(training.stopVotes).toBe(1);
    expect(training.isStandingBy).toBe(false);
    expect(training.announcements).toEqual(['early-stopping: val/ens_nll: no improvement in 2 evaluations, best 0.5.']);
  });

  it('resets its patience at each improvement by more than minDelta', async () => {
    const stopping = new EarlyStopping({ monitor: nll, patience: 2, minDelta: 0.1 });
    const training = new FakeTraining();
    // 0.45 improves on 0.5 by too little; 0.35 improves by enough.
    await showSeries(stopping, training, nll, [0.5, 0.45, 0.35, 0.3]);
    expect(stopping.state()).toMatchObject({ best: 0.35, waited: 1 });
    expect(training.stopVotes).toBe(0);
  });

  it('never counts NaN or -Infinity as an improvement', async () => {
    const stopping = new EarlyStopping({ monitor: nll, patience: 3 });
    const training = new FakeTraining();
    await showSeries(stopping, training, nll, [NaN, 2, -Infinity]);
    expect(stopping.state()).toMatchObject({ best: 2, waited: 1 });
  });

  it('does not count NaN towards its patience', async () => {
    const stopping = new EarlyStopping({ monitor: nll, patience: 2 });
    const training = new FakeTraining();
    await showSeries(stopping, training, nll, [NaN, NaN, NaN, NaN]);
    expect([training.stopVotes, training.announcements]).toEqual([0, []]);
    await showSeries(stopping, training, nll, [1, NaN, 2, NaN]);
    expect(training.stopVotes).toBe(0);
    await showSeries(stopping, training, nll, [2]);
    expect(training.announcements).toEqual(['early-stopping: val/ens_nll: no improvement in 2 evaluations, best 1.']);
  });

  it('says so if the metric never had a finite value', async () => {
    const training = new FakeTraining();
    await showSeries(new EarlyStopping({ monitor: nll, patience: 2 }), training, nll, [Infinity, Infinity]);
    expect(training.announcements).toEqual([
      'early-stopping: val/ens_nll: no improvement in 2 evaluations, it never had a finite value.',
    ]);
  });

  it('refuses to guess the direction in which a metric improves', () => {
    const open = (monitor: string) => () => new EarlyStopping({ monitor });
    expect(open('val/disagreement')).toThrow('neither a smaller nor a larger value is better');
    expect(open('val/ens_brie')).toThrow('Tutti knows no such metric (did you mean val/ens_brier?)');
    expect(open('val/own')).toThrow('Set earlyStopping.mode to min or max');
    expect(() => new EarlyStopping({ monitor: 'val/disagreement', mode: 'max' })).not.toThrow();
  });

  it('expects larger values of a metric to maximize', async () => {
    const stopping = new EarlyStopping({ monitor: 'val/ens_acc', patience: 1 });
    const training = new FakeTraining();
    await showSeries(stopping, training, 'val/ens_acc', [0.1, 0.2]);
    expect(training.stopVotes).toBe(0);
    await showSeries(stopping, training, 'val/ens_acc', [0.2]);
    expect(training.stopVotes).toBe(1);
  });

  it('stands by alone if it is not joint, on the metric of its rank, and reports it once', async () => {
    const stopping = new EarlyStopping({ monitor: 'val/member_{rank}_nll', patience: 1, joint: false });
    const training = new FakeTraining({ rank: 3 });
    await showSeries(stopping, training, 'val/member_3_nll', [1, 2, 2, 0.5, 3]);
    expect(training.stopVotes).toBe(0);
    expect(training.isStandingBy).toBe(true);
    expect(training.announcements).toHaveLength(1);
    expect(stopping.state()).toMatchObject({ best: 1, waited: 1 });
  });

  it('uses the current patience', async () => {
    const stopping = new EarlyStopping({ monitor: nll, patience: 10 });
    const training = new FakeTraining();
    await showSeries(stopping, training, nll, [0.5, 0.6, 0.6]);
    stopping.onSettings({ learningRate: 1, patience: 3 });
    await showSeries(stopping, training, nll, [0.6]);
    expect(training.stopVotes).toBe(1);
  });

  it('is decided by the first rank alone if it is joint, even while that rank stands by', async () => {
    const { groups } = createInMemoryGroup([4, 5]);
    const [first, second] = groups.map((group) => new FakeTraining({ group }));
    first.standBy();
    for (const training of [first, second])
      await showSeries(new EarlyStopping({ monitor: nll, patience: 1 }), training, nll, [1, 2]);
    expect([first.stopVotes, second.stopVotes]).toEqual([1, 0]);
  });

  it('continues after a resume where it was', async () => {
    const before = new EarlyStopping({ monitor: nll, patience: 2 });
    await showSeries(before, new FakeTraining(), nll, [1, 2]);
    const after = new EarlyStopping({ monitor: nll, patience: 2 });
    after.restore(JSON.parse(JSON.stringify(before.state())));
    const training = new FakeTraining();
    await showSeries(after, training, nll, [1.5]);
    expect(training.stopVotes).toBe(1);
  });

  it('names the available metrics if its monitor is unknown', async () => {
    const stopping = new EarlyStopping({ monitor: 'val/ens_nlll', mode: 'min' });
    const evaluation = evaluationOf({ 'val/ens_nll': 1, 'val/ens_acc': 1 });
    await expect(stopping.onEvaluation(new FakeTraining(), evaluation)).rejects.toThrow(
      'There is no metric "val/ens_nlll" to monitor. This evaluation computed val/ens_acc, val/ens_nll.',
    );
  });

  it('resets after a resume that monitors another metric', async () => {
    const before = new EarlyStopping({ monitor: nll, patience: 2 });
    await showSeries(before, new FakeTraining(), nll, [0.1, 0.2]);
    const after = new EarlyStopping({ monitor: 'val/product_nll', patience: 2 });
    after.restore(JSON.parse(JSON.stringify(before.state())));
    expect(after.state()).toMatchObject({ best: null, waited: 0 });
  });
});
