import { describe, expect, it } from 'vitest';
import { type ClassSamples, fitPostprocessing, type ValueSamples } from '../../../core/postprocessing/fit.ts';
import { flaggedShare, measureDetection, measurePostprocessing } from '../../../core/postprocessing/measure.ts';
import { type PostprocessingRequest, usualRequest } from '../../../core/postprocessing/request.ts';

/** Two members, four samples of two classes: three with probabilities [0.9, 0.1], all of class 0 but the second; one undecided. */
const classes: ClassSamples = {
  kind: 'classes',
  stack: {
    members: 2,
    samples: 4,
    classes: 2,
    values: Float32Array.of(0.9, 0.1, 0.9, 0.1, 0.9, 0.1, 0.5, 0.5, 0.9, 0.1, 0.9, 0.1, 0.9, 0.1, 0.5, 0.5),
  },
  targets: Int32Array.of(0, 1, 0, 1),
};

/** Two members, means 1 and 3 for four samples: total variance 2; targets at 2 + 2 and 2 - 2. */
const values: ValueSamples = {
  kind: 'values',
  means: { members: 2, samples: 4, values: Float32Array.of(1, 1, 1, 1, 3, 3, 3, 3) },
  variances: null,
  columns: 1,
  levels: null,
  targets: [4, 0, 4, 0],
};

const fitWith = (change: Partial<PostprocessingRequest>, samples: ClassSamples | ValueSamples = classes) =>
  fitPostprocessing({ ...usualRequest, ...change }, samples);

describe('a fit', () => {
  it('takes what suits classes', () => {
    const { calibration, conformal, outside, selective } = fitWith({ alpha: 0.5 });
    // Two of the three sure samples are right: their probability becomes 2/3, by log 9 / T = log 2.
    expect(calibration).toMatchObject({ temperature: expect.closeTo(Math.log(9) / Math.log(2), 5) as number });
    expect(conformal).toMatchObject({ kind: 'sets', method: 'raps', alpha: 0.5, penalty: 0.01, freeRanks: 1 });
    expect(outside).toMatchObject({ score: 'entropy', threshold: expect.closeTo(Math.log(2), 6) as number });
    expect(selective).toBeNull();
  });

  it('takes what suits values', () => {
    const { calibration, conformal, outside } = fitWith({ alpha: 0.25 }, values);
    expect(calibration).toEqual({ method: 'sigma', scales: [Math.SQRT2] });
    expect(conformal).toMatchObject({ method: 'sigma-scaled', margins: [expect.closeTo(1, 12)], quantiles: null });
    expect(outside).toMatchObject({ score: 'variance', threshold: 2 });
  });

  it('widens the predicted quantiles that are nearest to the wished ones', () => {
    const quantiles: ValueSamples = {
      ...values,
      means: { members: 1, samples: 9, values: Float32Array.of(0, 1, 2, 0, 1, 2, 0, 1, 2) },
      columns: 3,
      levels: [0.1, 0.5, 0.9],
      targets: [1, 3, -2],
    };
    const fitted = fitWith({ alpha: 0.25 }, quantiles);
    expect(fitted).toMatchObject({
      calibration: null,
      conformal: { method: 'cqr', margins: [2], quantiles: [0, 2] },
      outside: null,
    });
    // Intervals [-2, 4]; the median's squared errors are 0, 4, 9.
    const { conformal, selective } = measurePostprocessing(fitted, quantiles);
    expect(conformal).toMatchObject({ coverage: 1, meanSize: 6 });
    expect(selective?.curve).toEqual([{ coverage: 1, risk: expect.closeTo(13 / 3, 12) as number, threshold: 0 }]);
  });

  it('finds the threshold for a wished risk', () => {
    const { selective } = fitWith({ risk: 0.4, method: 'none' });
    expect(selective).toMatchObject({ threshold: expect.closeTo(0.9, 6) as number, coverage: 0.75, wishedRisk: 0.4 });
    expect(selective?.risk).toBeCloseTo(1 / 3, 12);
    expect(() => fitWith({ risk: 0.1 })).toThrow('No threshold gives a risk of 0.1');
  });

  it('refuses methods that do not suit what the members predict', () => {
    expect(() => fitWith({ method: 'sigma' })).toThrow('"sigma" does not suit');
    expect(() => fitWith({ conformal: 'cqr' })).toThrow('ask for thr, aps, raps or none');
    expect(() => fitWith({ method: 'vector' }, values)).toThrow('ask for sigma or none');
    expect(() => fitWith({ conformal: 'aps' }, values)).toThrow('ask for sigma-scaled, split or none');
    expect(() => fitWith({ isClassConditional: true }, values)).toThrow('no classes');
    const single = { ...values, means: { members: 1, samples: 4, values: Float32Array.of(1, 1, 1, 1) } };
    expect(() => fitWith({ method: 'sigma' }, single)).toThrow('none does');
    expect(() => fitWith({ outside: 'variance' }, single)).toThrow('more than one member');
    expect(fitWith({}, single)).toMatchObject({ calibration: null, conformal: { method: 'split' }, outside: null });
  });
});

describe('figures', () => {
  it('of classes are those before and after', () => {
    const { calibration, conformal } = measurePostprocessing(fitWith({ conformal: 'thr', alpha: 0.4 }), classes);
    expect(calibration?.before.ece).toBeCloseTo((3 * (0.9 - 2 / 3)) / 4 + 0.5 / 4, 6);
    expect(calibration?.after.ece).toBeCloseTo(0.5 / 4, 5);
    expect(calibration?.after.nll).toBeCloseTo((2 * Math.log(1.5) + Math.log(3) + Math.log(2)) / 4, 6);
    expect(calibration?.after.acc).toBe(0.5);
    expect(calibration?.reliability?.before).toHaveLength(15);
    expect(conformal).toMatchObject({ coverage: 0.75, meanSize: 1.25, classCoverage: [1, 0.5] });
  });

  it('of values are those of one Gaussian', () => {
    const { calibration } = measurePostprocessing(fitWith({}, values), values);
    const nll = (variance: number) => (Math.log(2 * Math.PI * variance) + 4 / variance) / 2;
    expect(calibration?.before.nll).toBeCloseTo(nll(2), 12);
    expect(calibration?.after.nll).toBeCloseTo(nll(4), 12);
  });

  it('of detection have the share above the threshold', () => {
    const fitted = fitWith({ quantile: 0.5 });
    expect(flaggedShare(fitted, classes)).toBe(0.25);
    const { scores, flagged, samples } = measureDetection(fitted, classes, classes, { name: 'same', kind: 'data' });
    expect([samples, flagged]).toEqual([4, 0.25]);
    expect(scores.entropy.auroc).toBe(0.5);
    expect(Object.keys(scores)).toEqual(['entropy', 'mutual-information', 'energy', 'max-logit', 'variance']);
  });
});
