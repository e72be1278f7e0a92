import { describe, expect, it } from 'vitest';
import type { PredictionData } from '../../../core/protocol/pages/run-data.ts';
import { headlineFigures } from '../../../src-renderer/views/run/ensemble/headline-figures.ts';
import { plainPredictions, twoSamples } from './two-samples.ts';

/** Members predict 1, 3 and 2, 5 for the targets 1 and 4; their mean is 1.5 and 4. */
const values: PredictionData = {
  combination: 'mean',
  ...plainPredictions,
  task: 'regression',
  kind: 'values',
  ranks: [0, 1],
  samples: 2,
  width: 1,
  outputs: [Float32Array.of(1, 3, 2, 5)],
  targets: Float32Array.of(1, 4),
};

/** Name, ensemble, mean member, whether the ensemble is better. */
function rows(data: PredictionData, nllEpsilon = 0) {
  return headlineFigures(data, nllEpsilon).map(({ name, value, meanMember, isBetter }) => [
    name,
    Number(value.toFixed(5)),
    meanMember === null ? null : Number(meanMember.toFixed(5)),
    isBetter,
  ]);
}

describe('the headline numbers of an ensemble, by hand', () => {
  it('of classifiers: NLL, accuracy, ECE, diversity gain, disagreement', () => {
    const ensembleNll = -(Math.log(0.8) + Math.log(0.4)) / 2;
    const memberNll = -(Math.log(0.9) + Math.log(0.6) + Math.log(0.7) + Math.log(0.2)) / 4;
    expect(rows(twoSamples)).toEqual([
      ['nll', Number(ensembleNll.toFixed(5)), Number(memberNll.toFixed(5)), true],
      // The ensemble takes both for class 0; member 0 is right twice, member 1 once.
      ['acc', 0.5, 0.75, false],
      // |1 - .8| and |0 - .6|, half each; members: (.1 + .4) / 2 and (.3 + .8) / 2.
      ['ece', 0.4, 0.4, null],
      ['ambiguity', Number((memberNll - ensembleNll).toFixed(5)), null, null],
      ['disagreement', 0.5, null, null],
    ]);
    expect(headlineFigures(twoSamples, 0).map(({ title }) => title)).toEqual([
      'NLL',
      'Accuracy',
      'ECE',
      'Diversity gain',
      'Disagreement',
    ]);
  });

  it('of jointly trained members: of their product, which answers', () => {
    // The geometric means of the class probabilities: √(.9 · .7) against √(.1 · .3), and √(.4 · .8) against √(.6 · .2).
    const [first, second] = [
      [Math.sqrt(0.63), Math.sqrt(0.03)],
      [Math.sqrt(0.32), Math.sqrt(0.12)],
    ];
    const nll = -(Math.log(first[0] / (first[0] + first[1])) + Math.log(second[1] / (second[0] + second[1]))) / 2;
    const memberNll = -(Math.log(0.9) + Math.log(0.6) + Math.log(0.7) + Math.log(0.2)) / 4;
    const found = rows({ ...twoSamples, combination: 'product' });
    expect(found[0]).toEqual(['nll', Number(nll.toFixed(5)), Number(memberNll.toFixed(5)), true]);
    expect(found.find(([name]) => name === 'ambiguity')).toEqual([
      'ambiguity',
      Number((memberNll - nll).toFixed(5)),
      null,
      null,
    ]);
    // Rates 2 and 8 for the count 3: the product's rate is 4, the members' errors are 1 and 25.
    const counts: PredictionData = {
      ...values,
      task: 'poisson-regression',
      combination: 'product',
      samples: 1,
      outputs: [Float32Array.of(2, 8)],
      targets: Float32Array.of(3),
    };
    const ofCounts = rows(counts);
    expect(ofCounts.find(([name]) => name === 'nll')?.[1]).toBeCloseTo(4 - 3 * Math.log(4) + Math.log(6), 5);
    expect(ofCounts.find(([name]) => name === 'mse')).toEqual(['mse', 1, 13, true]);
  });

  it('of regressors without variances: MSE, gain, spread; with them the NLL of the mixture too', () => {
    // Errors of the mean: .5 and 0; of the members: 0, 1 and 1, 1.
    expect(rows(values)).toEqual([
      ['mse', 0.125, 0.75, true],
      ['ensemble_gain', 0.625, null, null],
      ['ens_std', Number(((Math.sqrt(0.5) + Math.sqrt(2)) / 2).toFixed(5)), null, null],
    ]);
    const gaussian = {
      ...values,
      task: 'heteroscedastic-regression',
      outputs: [values.outputs[0], Float32Array.of(1, 1, 1, 4)],
    };
    const mixture = -(Math.log((0.3989423 + 0.2419707) / 2) + Math.log((0.2419707 + 0.1760327) / 2)) / 2;
    expect(rows(gaussian)[0].slice(0, 2)).toEqual(['nll', expect.closeTo(mixture, 4)]);
    expect(rows(gaussian).map(([name]) => name)).toEqual(['nll', 'mse', 'ambiguity', 'ens_std']);
  });

  it('weigh samples as the evaluation did, and add the epsilon of the run', () => {
    expect(rows({ ...twoSamples, weights: Float64Array.of(3, 1) })[1].slice(0, 3)).toEqual(['acc', 0.75, 0.875]);
    const [, value] = rows(twoSamples, 0.1)[0];
    expect(value).toBeCloseTo(-(Math.log(0.9) + Math.log(0.5)) / 2, 5);
  });

  it('a single model has no mean member, gain or disagreement', () => {
    const outputs = [Float32Array.of(0.9, 0.1, 0.4, 0.6)];
    expect(rows({ ...twoSamples, ranks: [3], outputs }).map(([name, , member]) => [name, member])).toEqual([
      ['nll', null],
      ['acc', null],
      ['ece', null],
    ]);
  });

  it('are unknown where a prediction is NaN, with the ranks at fault: no perfect calibration', () => {
    const broken = { ...twoSamples, outputs: [Float32Array.of(0.9, 0.1, 0.4, 0.6, NaN, NaN, 0.8, 0.2)] };
    for (const { value, whyUnknown, isBetter } of headlineFigures(broken, 0)) {
      expect(value).toBeNaN();
      expect(whyUnknown).toBe('predictions of member 1 are NaN or infinite');
      expect(isBetter).toBeNull();
    }
  });

  it('are none where members held out different samples, or a task needs more than its predictions', () => {
    expect(rows({ ...twoSamples, areHeldOut: true })).toEqual([]);
    expect(rows({ ...values, task: 'quantile-regression' })).toEqual([]);
  });
});
