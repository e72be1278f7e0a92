import { describe, expect, it } from 'vitest';
import { EnsembleMetrics, RegressionEnsembleMetrics } from '../../../workers/callbacks/ensemble-metrics.ts';
import { createDataset } from '../../../workers/data/dataset.ts';
import { createInMemoryGroup } from '../relay/in-memory-group.ts';
import { evaluationOf, FakeTraining } from './fakes.ts';

/** p(class 0), p(class 1) of two samples. The first belongs to class 0, the second to class 1. */
const probabilities = (...values: number[]) => ({
  kind: 'probabilities' as const,
  samples: 2,
  width: 2,
  values: [Float32Array.from(values)],
});
const nll = (...chosen: number[]) => -chosen.reduce((sum, p) => sum + Math.log(p), 0) / chosen.length;

describe('EnsembleMetrics', () => {
  it('computes the same metrics from the gathered probabilities on every rank', async () => {
    const { groups } = createInMemoryGroup([0, 1]);
    const own = [probabilities(0.75, 0.25, 0.5, 0.5), probabilities(0.25, 0.75, 0, 1)];
    const evaluations = own.map((predictions) => evaluationOf({}, { predictions }));
    const metrics = new EnsembleMetrics();
    await Promise.all(
      groups.map((group, i) => metrics.onEvaluation(new FakeTraining({ group, members: 2 }), evaluations[i])),
    );
    const [first, second] = evaluations.map((evaluation) => evaluation.metrics);
    expect(first).toEqual(second);
    // The mean prediction: [1/2, 1/2] and [1/4, 3/4].
    expect(first.get('val/ens_nll')).toBeCloseTo(nll(0.5, 0.75), 12);
    expect(first.get('val/member_0_nll')).toBeCloseTo(nll(0.75, 0.5), 12);
    expect(first.get('val/member_1_nll')).toBeCloseTo(nll(0.25, 1), 12);
    expect(first.get('val/disagreement')).toBe(1);
    expect(first.get('val/member_0_acc')).toBe(0.5);
  });

  it('has an ensemble only once all of its members are there, including those of earlier waves at the same epoch', async () => {
    const present = evaluationOf({}, { predictions: probabilities(0.25, 0.75, 0, 1), epoch: 4 });
    await new EnsembleMetrics().onEvaluation(new FakeTraining({ rank: 1, members: 2 }), present);
    expect([...present.metrics.keys()].every((name) => name.startsWith('val/member_1_'))).toBe(true);

    const asked: number[] = [];
    const earlierMembers = async (epoch: number) => {
      asked.push(epoch);
      return [{ ...probabilities(0.75, 0.25, 0.5, 0.5), ranks: [0] }];
    };
    await new EnsembleMetrics({ earlierMembers }).onEvaluation(new FakeTraining({ rank: 1, members: 2 }), present);
    expect(asked).toEqual([4]);
    expect(present.metrics.get('val/ens_nll')).toBeCloseTo(nll(0.5, 0.75), 12);
  });
});

describe('a monitored metric that is NaN', () => {
  async function announced(second: ReturnType<typeof probabilities>, metric: () => [string, number][]) {
    const { groups } = createInMemoryGroup([0, 1]);
    const trainings = groups.map((group) => new FakeTraining({ group, members: 2 }));
    const metricsOf = () => new Map(metric());
    const monitors = ['val/ens_nll', 'val/member_{rank}_nll'];
    const callbacks = trainings.map(() => new EnsembleMetrics({ metricsOf, monitors }));
    for (let epoch = 0; epoch < 2; epoch++) {
      await Promise.all(
        trainings.map((training, i) => {
          const predictions = i === 0 ? probabilities(0.75, 0.25, 0.5, 0.5) : second;
          return callbacks[i].onEvaluation(training, evaluationOf({}, { predictions, epoch }));
        }),
      );
    }
    return trainings.map(({ announcements }) => announcements);
  }

  it('is announced once for the run, with the members that predict NaN', async () => {
    const [first, second] = await announced(probabilities(0.5, 0.5, NaN, NaN), () => [
      ['ens_nll', NaN],
      ['member_0_nll', 1],
      ['member_1_nll', NaN],
    ]);
    expect(first).toEqual([expect.stringContaining('The run monitors val/ens_nll, val/member_1_nll, but')]);
    expect(first[0]).toContain('The predictions of member 1 contain NaN');
    expect(second).toEqual([]);
  });

  it('is put down to the samples if all predictions are numbers', async () => {
    const [first] = await announced(probabilities(0.5, 0.5, 1, 0), () => [['ens_nll', NaN]]);
    expect(first).toEqual([expect.stringContaining('the 2 samples of "two samples" are not such')]);
  });

  it('is not announced for metrics that are not monitored, or that are infinite', async () => {
    const values = (): [string, number][] => [
      ['ens_auroc', NaN],
      ['ens_nll', Infinity],
    ];
    expect(await announced(probabilities(0.5, 0.5, 1, 0), values)).toEqual([[], []]);
  });
});

describe('members of different waves', () => {
  async function announced(own: number[], options: { comparesWaves?: boolean; earlier?: number[][] } = {}) {
    const { comparesWaves = true, earlier = [[0.75, 0.25, 0.5, 0.5]] } = options;
    const training = new FakeTraining({ rank: earlier.length, members: earlier.length + 1 });
    const earlierMembers = async () => earlier.map((values, rank) => ({ ...probabilities(...values), ranks: [rank] }));
    const metrics = new EnsembleMetrics({ earlierMembers, comparesWaves });
    for (let epoch = 0; epoch < 2; epoch++) {
      await metrics.onEvaluation(training, evaluationOf({}, { predictions: probabilities(...own), epoch }));
    }
    return training.announcements;
  }

  it('that predict the same but for rounding are named once, with the remedy', async () => {
    const notes = await announced([0.75, 0.25, 0.5, 0.5]);
    expect(notes).toEqual([expect.stringContaining('Members 0, 1, of different waves, predict the same for')]);
    expect(notes[0]).toContain("Leave out the initializers' seeds");
    expect(await announced([0.7500001, 0.2499999, 0.5, 0.5])).toHaveLength(1);
    const other = [0.5, 0.5, 0.25, 0.75];
    expect(await announced(other, { earlier: [[0.75, 0.25, 0.5, 0.5], other] })).toEqual([
      expect.stringContaining('Members 1, 2, of different waves'),
    ]);
  });

  it('that differ in one value are not, nor those of one wave, nor those that should be equal', async () => {
    expect(await announced([0.75, 0.25, 0.5, 0.4999])).toEqual([]);
    const twins = [
      [0.75, 0.25, 0.5, 0.5],
      [0.75, 0.25, 0.5, 0.5],
    ];
    expect(await announced([0.5, 0.5, 0.25, 0.75], { earlier: twins })).toEqual([]);
    // The wave before has named these.
    expect(await announced([0.75, 0.25, 0.5, 0.5], { earlier: twins })).toEqual([]);
    expect(await announced([0.75, 0.25, 0.5, 0.5], { comparesWaves: false })).toEqual([]);
  });
});

describe('RegressionEnsembleMetrics', () => {
  it('computes MSE, gain and spread of the gathered values', async () => {
    const { groups } = createInMemoryGroup([0, 1]);
    const dataset = createDataset({
      name: 'two values',
      featureShape: [1],
      features: Float32Array.of(0, 1),
      targets: Float32Array.of(1, 3),
    });
    const evaluations = [Float32Array.of(0, 3), Float32Array.of(4, 5)].map((values) =>
      evaluationOf({}, { dataset, predictions: { kind: 'values', samples: 2, width: 1, values: [values] } }),
    );
    const metrics = new RegressionEnsembleMetrics();
    await Promise.all(
      groups.map((group, i) => metrics.onEvaluation(new FakeTraining({ group, members: 2 }), evaluations[i])),
    );
    // Means 2 and 4: errors 1 and 1. Member 0: 1 and 0; member 1: 9 and 4.
    const { metrics: found } = evaluations[0];
    expect(found.get('val/ens_mse')).toBe(1);
    expect(found.get('val/member_0_mse')).toBe(0.5);
    expect(found.get('val/member_1_mse')).toBe(6.5);
    expect(found.get('val/avg_member_mse')).toBe(3.5);
    expect(found.get('val/ensemble_gain')).toBe(2.5);
    expect(evaluations[1].metrics).toEqual(found);
  });
});
