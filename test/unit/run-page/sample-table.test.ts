import { describe, expect, it } from 'vitest';
import type { PredictionData } from '../../../core/protocol/pages/run-data.ts';
import { placesBy, sampleTable } from '../../../src-renderer/views/run/samples/sample-table.ts';
import { plainPredictions, twoSamples } from './two-samples.ts';

const digits = 6;
/** Two members, two samples of two targets: means, then variances. */
const values: PredictionData = {
  combination: 'mean',
  ...plainPredictions,
  task: 'heteroscedastic-regression',
  kind: 'values',
  ranks: [0, 2],
  samples: 2,
  width: 2,
  outputs: [Float32Array.of(1, 2, 3, 4, 3, 2, 5, 8), Float32Array.of(4, 9, 1, 1, 4, 9, 1, 7)],
  targets: Float32Array.of(2, 5, 4, 6),
};

describe('the samples of classifiers, by hand', () => {
  const table = sampleTable(twoSamples);

  it('have the entropy, the NLL and the mutual information of the ensemble', () => {
    const { uncertainty, error, disagreement } = table!.scores;
    expect([...uncertainty.values]).toEqual([expect.closeTo(0.5004024, digits), expect.closeTo(0.6730117, digits)]);
    expect([...error.values]).toEqual([expect.closeTo(-Math.log(0.8), digits), expect.closeTo(-Math.log(0.4), digits)]);
    expect(disagreement.values[0]).toBeCloseTo(0.5004024 - (0.325083 + 0.6108643) / 2, digits);
  });

  it('of jointly trained members are those of their product, and counts have the deviation √rate', () => {
    const joint = sampleTable({ ...twoSamples, combination: 'product' })!;
    // √(.4 · .8) against √(.6 · .2) for the second.
    const q = 1 / (1 + Math.sqrt(0.12 / 0.32));
    expect(joint.scores.error.values[1]).toBeCloseTo(-Math.log(1 - q), digits);
    expect(joint.rowAt(1).ensemble).toEqual({ text: '0', detail: '62 %', isWrong: true });
    const counts = { ...values, task: 'poisson-regression', samples: 1, width: 1, targets: Float32Array.of(3) };
    const table = sampleTable({ ...counts, combination: 'product', outputs: [Float32Array.of(2, 8)] })!;
    expect(table.rowAt(0).ensemble).toMatchObject({ text: '4', detail: '± 2' });
    expect(table.scores.error.values[0]).toBeCloseTo(1, digits);
  });

  it('show the class of each, and which is wrong', () => {
    expect(table!.rowAt(1)).toEqual({
      sample: '1',
      feature: null,
      label: '1',
      ensemble: { text: '0', detail: '60 %', isWrong: true },
      members: [
        { text: '1', detail: '60 %', isWrong: false },
        { text: '0', detail: '80 %', isWrong: true },
      ],
    });
  });

  it('have the names of the classes, their feature, and their place where samples were left out', () => {
    const named = {
      ...twoSamples,
      classNames: ['cat', 'dog'],
      places: Int32Array.of(4, 9),
      feature: Float32Array.of(0.5, 2),
    };
    expect(sampleTable(named)!.rowAt(1)).toMatchObject({
      sample: '9',
      feature: 2,
      label: 'dog',
      ensemble: { text: 'cat' },
    });
  });

  it('count a prediction that is not finite as wrong', () => {
    const outputs = [Float32Array.of(NaN, NaN, 0.4, 0.6, 0.7, 0.3, 0.8, 0.2)];
    const row = sampleTable({ ...twoSamples, outputs })!.rowAt(0);
    expect(row.ensemble).toEqual({ text: '–', detail: 'NaN', isWrong: true });
    expect(row.members[1]).toEqual({ text: '0', detail: '70 %', isWrong: false });
  });
});

describe('the samples of regressors, by hand', () => {
  const table = sampleTable(values);

  it('have a row for each target', () => {
    expect(table!.length).toBe(4);
    expect(table!.rowAt(3).sample).toBe('1, target 1');
    const named = sampleTable({ ...values, targetNames: ['height', 'mass'] })!;
    expect([0, 3].map((place) => named.rowAt(place).sample)).toEqual(['0, height', '1, mass']);
    expect(named.quantitiesAt(3)).toMatchObject([{ name: 'mass', ensemble: 6 }]);
  });

  it('have total deviation, absolute error and the deviation between the members', () => {
    const { uncertainty, error, disagreement } = table!.scores;
    // Means [2 2 4 6]; deviations between the members [1 0 1 2]; mean variances [4 9 1 4].
    expect([...error.values]).toEqual([0, 3, 0, 0]);
    expect([...disagreement.values]).toEqual([1, 0, 1, 2]);
    expect([...uncertainty.values]).toEqual([5, 9, 2, 8].map((value) => expect.closeTo(Math.sqrt(value), digits)));
  });

  it('show the values with their deviations', () => {
    expect(table!.rowAt(0)).toMatchObject({
      label: '2',
      ensemble: { text: '2', detail: '± 2.236', isWrong: false },
      members: [
        { text: '1', detail: '± 2' },
        { text: '3', detail: '± 2' },
      ],
    });
  });

  it('have no deviation for one member that predicts none', () => {
    const single = { ...values, task: 'regression', ranks: [0], outputs: [Float32Array.of(1, 2, 3, 4)] };
    expect(sampleTable(single)!.rowAt(0).ensemble).toEqual({ text: '1', detail: null, isWrong: false });
  });
});

describe('the table of samples', () => {
  it('is sorted by descending value, NaN first, ties in their order', () => {
    expect([...placesBy(Float64Array.of(1, 3, NaN, 3, Infinity))]).toEqual([2, 4, 1, 3, 0]);
  });

  it.each(['multi-label', 'quantile-regression'])('does not exist for the task %s', (task) => {
    expect(sampleTable({ ...values, task })).toBeNull();
  });

  it('does not exist for members that held out different samples', () => {
    expect(sampleTable({ ...twoSamples, areHeldOut: true })).toBeNull();
  });
});
