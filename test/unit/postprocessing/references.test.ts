import { describe, expect, it } from 'vitest';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { calibratedProbabilities } from '../../../core/postprocessing/calibration/apply-calibration.ts';
import { fitClassCalibration, fitSigmaScales } from '../../../core/postprocessing/calibration/fit-calibration.ts';
import { classSets } from '../../../core/postprocessing/conformal/class-sets.ts';
import { fitIntervals, fitSets } from '../../../core/postprocessing/conformal/fit-conformal.ts';
import { detectionFigures } from '../../../core/postprocessing/outside/detection.ts';
import { classOutsideScores } from '../../../core/postprocessing/outside/scores.ts';
import { pointForRisk, riskCoverageAreas, riskCoverageCurve } from '../../../core/postprocessing/risk-coverage.ts';
import { largestProbability } from '../../../core/postprocessing/apply.ts';
import { mostProbableClass } from '../../../core/metrics/index.ts';
import type { PredictionScore } from '../../../core/postprocessing/schema.ts';
import { readGolden } from '../../golden/read-golden.ts';
import { agreement } from '../metrics/recorded.ts';

interface SetsFit {
  thresholds: (number | string)[];
  sets: number[];
}

/** Written by make_postprocessing.py. */
const recorded = readGolden('postprocessing/postprocessing.json') as {
  versions: Record<string, string>;
  calibration: {
    name: string;
    shape: [number, number, number];
    logits: number[];
    targets: number[];
    fresh: number[];
    pooled: number;
    shared: number;
    perMember: number[];
    joint: number[];
    vector: { scale: number[]; bias: number[] };
    dirichlet: { weights: number[][]; bias: number[] };
    isotonic: number[][];
  }[];
  sets: {
    name: string;
    classes: number;
    alpha: number;
    probabilities: number[];
    targets: number[];
    fresh: number[];
    methods: Record<'thr' | 'aps' | 'raps', { marginal: SetsFit; conditional: SetsFit }>;
  }[];
  intervals: {
    name: string;
    alpha: number;
    means: number[];
    deviations: number[];
    lower: number[];
    upper: number[];
    targets: number[];
    split: number;
    'sigma-scaled': number;
    cqr: number;
    sigmaScale: number;
  }[];
  outside: {
    name: string;
    shape: [number, number, number, number];
    inside: number[];
    outside: number[];
    scores: Record<PredictionScore, number[]>;
    figures: Record<PredictionScore, Record<string, number>>;
  }[];
  selective: {
    name: string;
    classes: number;
    probabilities: number[];
    targets: number[];
    aurc: number;
    augrc: number;
    coverageAt5: number | null;
    riskAt80: number;
  }[];
};

function expectClose(found: ArrayLike<number>, expected: readonly number[], digits: number): void {
  expect(found).toHaveLength(expected.length);
  expected.forEach((value, index) => expect(found[index], `entry ${index}`).toBeCloseTo(value, digits));
}

const others = Object.entries(recorded.versions).map(([name, version]) => `${name} ${version}`);

describe(`calibration against ${others.join(', ')}`, () => {
  it.each(recorded.calibration)('$name', (given) => {
    const [members, samples, classes] = given.shape;
    const stack = { members, samples, classes, logits: Float32Array.from(given.logits) };
    const targets = Int32Array.from(given.targets);
    const fit = (method: Parameters<typeof fitClassCalibration>[0], regularization?: number) =>
      fitClassCalibration(method, { stack, targets }, regularization);
    expect(fit('pooled-temperature')).toMatchObject({ temperature: expect.closeTo(given.pooled, 6) as number });
    const temperaturesOf = (method: Parameters<typeof fitClassCalibration>[0]) => {
      const found = fit(method);
      return found.method === 'temperature' ? found.temperatures : [];
    };
    expectClose(
      temperaturesOf('shared-temperature'),
      given.perMember.map(() => given.shared),
      6,
    );
    expectClose(temperaturesOf('member-temperatures'), given.perMember, 6);
    expectClose(temperaturesOf('joint-temperatures'), given.joint, 4);
    const vector = fit('vector');
    if (vector.method === 'vector') {
      expectClose(vector.scale, given.vector.scale, 4);
      expectClose(vector.bias, given.vector.bias, 4);
    }
    const dirichlet = fit('dirichlet', 0.05);
    if (dirichlet.method === 'dirichlet') {
      expectClose(dirichlet.weights.flat(), given.dirichlet.weights.flat(), 4);
      expectClose(dirichlet.bias, given.dirichlet.bias, 4);
    }
    const fresh = { members, samples: 5, classes, logits: Float32Array.from(given.fresh) };
    expectClose(calibratedProbabilities(fit('isotonic'), fresh).values, given.isotonic.flat(), 8);
  });

  it.each(recorded.intervals)(
    'the scale of standard deviations: $name',
    ({ means, deviations, targets, sigmaScale }) => {
      const variance = Float64Array.from(deviations, (deviation) => deviation ** 2);
      expect(fitSigmaScales(Float64Array.from(means), variance, targets, 1)[0]).toBeCloseTo(sigmaScale, 6);
    },
  );
});

describe('conformal prediction against MAPIE, TorchUncertainty and NumPy', () => {
  it.each(recorded.sets)('sets: $name', ({ classes, alpha, probabilities, targets, fresh, methods }) => {
    const of = (values: number[]) => ({ samples: values.length / classes, classes, values: Float64Array.from(values) });
    const chosen = Int32Array.from(targets);
    for (const method of ['thr', 'aps', 'raps'] as const) {
      for (const kind of ['marginal', 'conditional'] as const) {
        const score = { method, alpha, penalty: method === 'raps' ? 0.05 : 0, freeRanks: method === 'raps' ? 2 : 0 };
        const fitted = fitSets(score, of(probabilities), chosen, kind === 'conditional');
        const { thresholds, sets } = methods[method][kind];
        expect(fitted.thresholds).toHaveLength(thresholds.length);
        thresholds.forEach((threshold, label) => {
          expect(agreement(fitted.thresholds[label], Number(threshold))).toBeLessThan(1e-12);
        });
        expect([...classSets(fitted, of(fresh))], `${method} ${kind}`).toEqual(sets);
      }
    }
  });

  it.each(recorded.intervals)(
    'intervals: $name',
    ({ alpha, means, deviations, lower, upper, targets, ...expected }) => {
      const centre = Float64Array.from(means);
      const centres = { lower: centre, upper: centre, deviations: Float64Array.from(deviations) };
      expectClose(fitIntervals('split', alpha, centres, targets, 1).margins, [expected.split], 12);
      expectClose(fitIntervals('sigma-scaled', alpha, centres, targets, 1).margins, [expected['sigma-scaled']], 12);
      const quantiles = { lower: Float64Array.from(lower), upper: Float64Array.from(upper), deviations: null };
      expectClose(fitIntervals('cqr', alpha, quantiles, targets, 1, [0, 1]).margins, [expected.cqr], 12);
    },
  );
});

describe('detection of samples outside the training data against TorchUncertainty and scikit-learn', () => {
  it.each(recorded.outside)(
    '$name',
    ({ shape: [members, samples, far, classes], inside, outside, scores, figures }) => {
      const stackOf = (size: number, values: number[]) => ({
        members,
        samples: size,
        classes,
        logits: Float32Array.from(values),
      });
      for (const name of Object.keys(scores) as PredictionScore[]) {
        const near = classOutsideScores(name, stackOf(samples, inside));
        const away = classOutsideScores(name, stackOf(far, outside));
        expectClose([...near, ...away], scores[name], 10);
        for (const [figure, value] of Object.entries(detectionFigures(near, away))) {
          expect(value, `${name} ${figure}`).toBeCloseTo(figures[name][figure], 12);
        }
      }
    },
  );
});

describe('selective prediction against TorchUncertainty', () => {
  it.each(recorded.selective)('$name', ({ classes, probabilities, targets, aurc, augrc, coverageAt5, riskAt80 }) => {
    const prediction = { samples: targets.length, classes, values: Float64Array.from(probabilities) };
    const confidence = largestProbability(prediction);
    const chosen = mostProbableClass(prediction);
    const losses = Float64Array.from(targets, (target, sample) => Number(chosen[sample] !== target));
    const areas = riskCoverageAreas(confidence, losses);
    expect(areas.aurc).toBeCloseTo(aurc, 12);
    expect(areas.augrc).toBeCloseTo(augrc, 12);
    const curve = riskCoverageCurve(confidence, losses);
    expect(agreement(pointForRisk(curve, 0.05)?.coverage ?? NaN, coverageAt5 ?? NaN)).toBeLessThan(1e-12);
    expect(curve.find(({ coverage }) => coverage >= 0.8 - 1e-12)?.risk).toBeCloseTo(riskAt80, 12);
  });

  it('writes figures that JSON can hold', () => {
    expect(toJson(riskCoverageAreas(Float64Array.of(1), Float64Array.of(0)))).toBe('{"aurc":"NaN","augrc":"NaN"}');
  });
});
