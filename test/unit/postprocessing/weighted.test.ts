import { describe, expect, it } from 'vitest';
import { calibratedProbabilities } from '../../../core/postprocessing/calibration/apply-calibration.ts';
import {
  type ClassCalibration,
  fitClassCalibration,
  fitSigmaScales,
} from '../../../core/postprocessing/calibration/fit-calibration.ts';
import { fitIntervals } from '../../../core/postprocessing/conformal/fit-conformal.ts';
import { confidenceAndLosses } from '../../../core/postprocessing/answers.ts';
import { divideSamples } from '../../../core/postprocessing/held-out.ts';
import { riskCoverageAreas } from '../../../core/postprocessing/risk-coverage.ts';
import { readGolden } from '../../golden/read-golden.ts';
import { agreement } from '../metrics/recorded.ts';

/** Written by make_weighted.py. */
const recorded = readGolden('postprocessing/weighted.json') as {
  calibration: {
    name: string;
    shape: [number, number, number];
    logits: number[];
    targets: number[];
    weights: number[];
    fresh: number[];
    pooled: number;
    shared: number;
    perMember: number[];
    joint: number[];
    vector: { scale: number[]; bias: number[] };
    isotonic: number[];
  }[];
  values: {
    name: string;
    alpha: number;
    means: number[];
    deviations: number[];
    targets: number[];
    weights: number[];
    sigmaScale: number;
    split: number | string;
    'sigma-scaled': number | string;
    aurc: number;
    augrc: number;
  }[];
};

function expectClose(found: ArrayLike<number>, expected: readonly number[], digits: number): void {
  expect(found).toHaveLength(expected.length);
  expected.forEach((value, index) => expect(found[index], `entry ${index}`).toBeCloseTo(value, digits));
}

describe('fits of weighted samples against SciPy, scikit-learn and NumPy', () => {
  it.each(recorded.calibration)('calibration: $name', (given) => {
    const [members, samples, classes] = given.shape;
    const all = {
      stack: { members, samples, classes, logits: Float32Array.from(given.logits) },
      targets: Int32Array.from(given.targets),
      weights: Float64Array.from(given.weights),
    };
    const temperatures = (method: ClassCalibration): number[] => {
      const found = fitClassCalibration(method, all);
      return found.method === 'temperature' ? found.temperatures : [];
    };
    expect(fitClassCalibration('pooled-temperature', all)).toMatchObject({
      temperature: expect.closeTo(given.pooled, 6) as number,
    });
    expectClose(temperatures('shared-temperature').slice(0, 1), [given.shared], 6);
    expectClose(temperatures('member-temperatures'), given.perMember, 6);
    expectClose(temperatures('joint-temperatures'), given.joint, 4);
    const vector = fitClassCalibration('vector', all);
    expect(vector.method).toBe('vector');
    if (vector.method === 'vector') {
      expectClose(vector.scale, given.vector.scale, 4);
      expectClose(vector.bias, given.vector.bias, 4);
    }
    const fresh = { members, samples: 5, classes, logits: Float32Array.from(given.fresh) };
    expectClose(calibratedProbabilities(fitClassCalibration('isotonic', all), fresh).values, given.isotonic, 8);
  });

  it.each(recorded.values)('intervals and risk: $name', (given) => {
    const means = Float64Array.from(given.means);
    const weights = Float64Array.from(given.weights);
    const deviations = Float64Array.from(given.deviations);
    const variances = deviations.map((deviation) => deviation ** 2);
    expect(fitSigmaScales(means, variances, given.targets, 1, weights)[0]).toBeCloseTo(given.sigmaScale, 6);
    for (const method of ['split', 'sigma-scaled'] as const) {
      const centres = { lower: means, upper: means, deviations };
      const { margins } = fitIntervals(method, given.alpha, centres, given.targets, 1, null, weights);
      expect(agreement(margins[0], Number(given[method])), method).toBeLessThan(1e-12);
    }
    const losses = means.map((mean, sample) => (mean - given.targets[sample]) ** 2);
    const areas = riskCoverageAreas(
      deviations.map((deviation) => -deviation),
      losses,
      weights,
    );
    expect(areas.aurc).toBeCloseTo(given.aurc, 12);
    expect(areas.augrc).toBeCloseTo(given.augrc, 12);
  });

  it('the weights of samples count for each of their targets', () => {
    const variances = Float64Array.of(1, 4, 1, 4);
    // By hand: (3 · 1² + 1 · 3²) / 4 and (3 · 2²/4 + 1 · 8²/4) / 4.
    const scales = fitSigmaScales(new Float64Array(4), variances, [1, 2, 3, 8], 2, Float64Array.of(3, 3, 1, 1));
    expectClose(scales, [Math.sqrt(3), Math.sqrt(4.75)], 12);
  });
});

describe('targets with holes', () => {
  const counted = Uint8Array.of(1, 0, 1, 1);
  const targets = [1, 99, 3, 8];

  it('have scales and margins of the samples that have them', () => {
    const [zeros, variances] = [new Float64Array(4), Float64Array.of(1, 4, 1, 4)];
    // By hand: (3 · 1² + 1 · 3²) / 4 and 8² / 4.
    const scales = fitSigmaScales(zeros, variances, targets, 2, Float64Array.of(3, 0, 1, 1));
    expectClose(scales, [Math.sqrt(3), 4], 12);
    expect(fitSigmaScales(zeros, variances, targets, 2, Float64Array.of(1, 0, 1, 0))).toEqual([Math.sqrt(5), 1]);
    const centres = { lower: zeros, upper: zeros, deviations: null };
    // The ⌈3 · 0.5⌉-th of 1 and 3, and the ⌈2 · 0.5⌉-th of 8.
    const fitted = fitIntervals('split', 0.5, centres, targets, 2, null, Float64Array.from(counted));
    expect(fitted).toMatchObject({ margins: [3, 8], counts: [2, 1] });
    const none = fitIntervals('split', 0.5, centres, targets, 2, null, Float64Array.of(1, 0, 1, 0));
    expect(none).toMatchObject({ margins: [3, Infinity], counts: [2, 0] });
  });

  it('have the losses of those that count, in the parts of a division too', () => {
    const means = { members: 1, samples: 4, values: new Float32Array(4) };
    const samples = { kind: 'values', means, variances: null, columns: 2, levels: null, targets, counted } as const;
    const nothing = { calibration: null, conformal: null, outside: null, selective: null };
    expect([...confidenceAndLosses(nothing, samples).losses]).toEqual([1, (3 ** 2 + 8 ** 2) / 2]);
    const parts = divideSamples(samples, 0.5, 1).map((part) => confidenceAndLosses(nothing, part).losses[0]);
    expect(parts.sort((a, b) => a - b)).toEqual([1, 36.5]);
  });
});
