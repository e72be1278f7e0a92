import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { meanProbabilities } from '../../../core/metrics/index.ts';
import { applyToClasses, applyToValues, type Fitted } from '../../../core/postprocessing/apply.ts';
import { calibratedMembers } from '../../../core/postprocessing/calibration/apply-calibration.ts';
import { fitIsotonic, interpolate } from '../../../core/postprocessing/calibration/isotonic.ts';
import { intervalCoverage, setCoverage } from '../../../core/postprocessing/conformal/coverage.ts';
import { conformalQuantile } from '../../../core/postprocessing/conformal/fit-conformal.ts';
import { outsideThreshold } from '../../../core/postprocessing/outside/detection.ts';
import { riskCoverageAreas, thinCurve } from '../../../core/postprocessing/risk-coverage.ts';
import { classificationCase } from '../metrics/arbitraries.ts';

const nothing: Fitted = { calibration: null, conformal: null, outside: null, selective: null };

/** Logits of two members, two samples, two classes. */
const stack = {
  members: 2,
  samples: 2,
  classes: 2,
  logits: Float32Array.of(0, Math.log(3), 0, 0, 0, Math.log(9), 0, 0),
};

describe('answers of classes', () => {
  it('are the plain mean of the members where nothing was fitted', () => {
    fc.assert(
      fc.property(classificationCase, ({ stack }) => {
        const { probabilities, sets, isOutside, isWithheld } = applyToClasses(nothing, stack);
        const plain = meanProbabilities(stack).values;
        probabilities.values.forEach((value, index) => expect(value).toBeCloseTo(plain[index], 6));
        expect([sets, isOutside, isWithheld]).toEqual([null, null, null]);
      }),
    );
  });

  it('divide logits of each member before averaging, or log-probabilities after it', () => {
    const before: Fitted = {
      ...nothing,
      calibration: { method: 'temperature', fit: 'joint', temperatures: [0.5, 2] },
    };
    // Member 0 doubles log 3 to log 9, member 1 halves log 9 to log 3.
    expect(applyToClasses(before, stack).probabilities.values[1]).toBeCloseTo((0.9 + 0.75) / 2, 6);
    expect([...calibratedMembers(before.calibration, stack).logits.subarray(0, 2)]).toEqual([
      0,
      Math.fround(Math.log(9)),
    ]);
    // The mean is [0.175, 0.825]: squared and divided by their sum.
    const after: Fitted = { ...nothing, calibration: { method: 'pooled-temperature', temperature: 0.5 } };
    const squares = 0.825 ** 2 / (0.825 ** 2 + 0.175 ** 2);
    expect(applyToClasses(after, stack).probabilities.values[1]).toBeCloseTo(squares, 6);
  });

  it('have sets, and say what is outside the training data or not certain enough', () => {
    const fitted: Fitted = {
      calibration: null,
      conformal: {
        kind: 'sets',
        method: 'thr',
        alpha: 0.1,
        thresholds: [0.5],
        isClassConditional: false,
        penalty: 0,
        freeRanks: 0,
        counts: [20],
      },
      outside: { score: 'entropy', threshold: 0.6, quantile: 0.95, others: [] },
      selective: { threshold: 0.7, wishedRisk: 0.1, risk: 0.05, coverage: 0.5 },
    };
    const answers = applyToClasses(fitted, stack);
    expect([...(answers.sets ?? [])]).toEqual([0, 1, 1, 1]);
    expect([...(answers.isOutside ?? [])]).toEqual([0, 1]);
    expect([...(answers.isWithheld ?? [])]).toEqual([0, 1]);
  });

  it('refuse a calibration of another set', () => {
    const of = (temperatures: number[]): Fitted => ({
      ...nothing,
      calibration: { method: 'temperature', fit: 'joint', temperatures },
    });
    expect(() => applyToClasses(of([1, 1, 1]), stack)).toThrow('have 2 members, the calibration was fitted for 3');
    const sigma: Fitted = { ...nothing, calibration: { method: 'sigma', scales: [1] } };
    expect(() => applyToClasses(sigma, stack)).toThrow('scales standard deviations');
  });
});

describe('answers of values', () => {
  // Means [1, 3] and [3, 5], variances 1: that of the mixture is 1 + 1 = 2.
  const means = { members: 2, samples: 2, values: Float32Array.of(1, 3, 3, 5) };
  const variances = { members: 2, samples: 2, values: Float32Array.of(1, 1, 1, 1) };

  it('have scaled variances and intervals', () => {
    const fitted: Fitted = {
      calibration: { method: 'sigma', scales: [2] },
      conformal: {
        kind: 'intervals',
        method: 'sigma-scaled',
        alpha: 0.1,
        margins: [1.5],
        quantiles: null,
        counts: [20],
      },
      outside: { score: 'variance', threshold: 2, quantile: 0.9, others: [] },
      selective: { threshold: -12, wishedRisk: 1, risk: 0.5, coverage: 1 },
    };
    const { mean, variance, intervals, isOutside, isWithheld } = applyToValues(fitted, means, variances, 1);
    expect([...mean]).toEqual([2, 4]);
    expect([...(variance ?? [])]).toEqual([8, 8]);
    expect(intervals?.lower[0]).toBeCloseTo(2 - 1.5 * Math.sqrt(8), 12);
    expect(intervals?.upper[1]).toBeCloseTo(4 + 1.5 * Math.sqrt(8), 12);
    expect([...(isOutside ?? []), ...(isWithheld ?? [])]).toEqual([0, 0, 0, 0]);
  });

  it('widen two quantiles of each sample', () => {
    const conformal: Fitted['conformal'] = {
      kind: 'intervals',
      method: 'cqr',
      alpha: 0.1,
      margins: [0.5],
      quantiles: [0, 1],
      counts: [20],
    };
    const quantiles = { members: 1, samples: 4, values: Float32Array.of(1, 2, 3, 5) };
    const { intervals, variance } = applyToValues({ ...nothing, conformal }, quantiles, null, 2);
    expect([...(intervals?.lower ?? []), ...(intervals?.upper ?? [])]).toEqual([0.5, 2.5, 2.5, 5.5]);
    expect(variance).toBeNull();
  });
});

describe('conformal quantiles', () => {
  it('are the score of rank ceil((n + 1)(1 - alpha)), infinite for too few samples', () => {
    const scores = Float64Array.from({ length: 9 }, (_, index) => 9 - index);
    expect(conformalQuantile(scores, 0.1)).toBe(9);
    expect(conformalQuantile(scores, 0.5)).toBe(5);
    expect(conformalQuantile(scores, 0.05)).toBe(Infinity);
    expect(outsideThreshold(scores, 0.5)).toBe(5);
  });

  it('give a coverage with its standard error', () => {
    const { coverage, standardError, meanSize, classCoverage } = setCoverage(
      Uint8Array.of(1, 0, 1, 1, 0, 1, 1, 0),
      Int32Array.of(0, 1, 0, 0),
    );
    expect([coverage, meanSize]).toEqual([0.75, 1.25]);
    expect(standardError).toBeCloseTo(Math.sqrt((0.75 * 0.25) / 4), 12);
    expect(classCoverage).toEqual([2 / 3, 1]);
    const intervals = { lower: Float64Array.of(0, 0), upper: Float64Array.of(1, 3) };
    expect(intervalCoverage(intervals, [0.5, 4])).toMatchObject({ coverage: 0.5, meanSize: 2 });
  });
});

describe('isotonic maps', () => {
  it('pool violators and share ties', () => {
    const labels = [0, 1, 0, 1, 1];
    const map = fitIsotonic(Float64Array.of(0.1, 0.2, 0.3, 0.4, 0.4), (sample) => labels[sample]);
    expect(map).toEqual({ from: [0.1, 0.2, 0.3, 0.4], to: [0, 0.5, 0.5, 1] });
    expect([0, 0.15, 0.35, 0.9].map((value) => interpolate(map, value))).toEqual([
      0,
      expect.closeTo(0.25, 12),
      expect.closeTo(0.75, 12),
      1,
    ]);
  });

  it('never fall', () => {
    const drawn = fc.array(fc.tuple(fc.integer({ min: 0, max: 20 }), fc.boolean()), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(drawn, (samples) => {
        const { from, to } = fitIsotonic(
          Float64Array.from(samples, ([score]) => score / 20),
          (sample) => Number(samples[sample][1]),
        );
        from.slice(1).forEach((value, index) => expect(value).toBeGreaterThan(from[index]));
        to.slice(1).forEach((value, index) => expect(value).toBeGreaterThanOrEqual(to[index]));
      }),
    );
  });
});

describe('risk and coverage', () => {
  it('do not depend on the order of samples with the same confidence', () => {
    const confidence = Float64Array.of(0.9, 0.5, 0.5, 0.5);
    const areas = riskCoverageAreas(confidence, Float64Array.of(0, 1, 0, 0));
    expect(riskCoverageAreas(confidence, Float64Array.of(0, 0, 0, 1))).toEqual(areas);
    // Risks 0, (1/3)/2, (2/3)/3, 1/4 at coverages 1/4 to 1: trapezoids of width 1/4, divided by 3/4.
    expect(areas.aurc).toBeCloseTo((1 / 6 + 2 / 9 + 1 / 8) / 3, 12);
  });

  it('are thinned to a number of points with the last', () => {
    const curve = Array.from({ length: 1000 }, (_, index) => ({
      coverage: (index + 1) / 1000,
      risk: index,
      threshold: 0,
    }));
    const thin = thinCurve(curve, 101);
    expect(thin).toHaveLength(101);
    expect(thin.at(-1)).toEqual({ coverage: 1, risk: 999, threshold: 0 });
  });
});
