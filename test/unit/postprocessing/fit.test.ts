import { describe, expect, it } from 'vitest';
import { fitClassCalibration } from '../../../core/postprocessing/calibration/fit-calibration.ts';
import { fitPostprocessing } from '../../../core/postprocessing/fit.ts';
import {
  type ClassSamples,
  divideSamples,
  type HeldOut,
  type ValueSamples,
} from '../../../core/postprocessing/held-out.ts';
import { flaggedShare, measureDetection, measurePostprocessing } from '../../../core/postprocessing/measure.ts';
import { type PostprocessingRequest, usualRequest } from '../../../core/postprocessing/request.ts';

/** So many samples of each kind that cross-validation is sure of what it sees. */
const times = 100;
const repeat = (...own: number[]): number[] => Array.from({ length: times }, () => own).flat();

/**
 * Two members, four kinds of samples of two classes: three with probabilities [0.9, 0.1], all of class 0 but the
 * second; one undecided.
 */
const classes: ClassSamples = {
  kind: 'classes',
  stack: {
    members: 2,
    samples: 4 * times,
    classes: 2,
    values: Float32Array.from([1, 2].flatMap(() => repeat(0.9, 0.1, 0.9, 0.1, 0.9, 0.1, 0.5, 0.5))),
  },
  targets: Int32Array.from(repeat(0, 1, 0, 1)),
};

/** Two members, means 1 and 3: variance 1; targets at 2 + 2 and 2 - 2. */
const values: ValueSamples = {
  kind: 'values',
  means: { members: 2, samples: 4 * times, values: Float32Array.from([...repeat(1, 1, 1, 1), ...repeat(3, 3, 3, 3)]) },
  variances: null,
  columns: 1,
  levels: null,
  targets: repeat(4, 0, 4, 0),
};

/**
 * What the prior's ten samples weigh beside 400: a fit to a share or a mean square m takes (m + share · expected) / (1
 * + share).
 */
const share = 10 / (4 * times);
const sure = (2 / 3 + share * 0.9) / (1 + share);
const scale = Math.sqrt((4 + share) / (1 + share));

const fitWith = (change: Partial<PostprocessingRequest>, samples: HeldOut = classes) =>
  fitPostprocessing({ ...usualRequest, calibrationShare: 1, ...change }, samples, 7);

describe('a fit', () => {
  it('takes what suits classes', () => {
    const { calibration, conformal, outside, selective } = fitWith({ alpha: 0.5 });
    // Two of three sure samples are right: their probability becomes 2/3, but for the prior, by log 9 / T = its logit.
    const temperature = Math.log(9) / Math.log(sure / (1 - sure));
    expect(calibration).toMatchObject({ temperature: expect.closeTo(temperature, 5) as number });
    // No class but the most probable one is needed for half of the samples: all sets are as small.
    expect(conformal).toMatchObject({ kind: 'sets', method: 'thr', alpha: 0.5, penalty: 0, freeRanks: 0 });
    expect(outside).toMatchObject({ score: 'entropy', threshold: expect.closeTo(Math.log(2), 6) as number });
    expect(selective).toBeNull();
    // Of the undecided sample: the members agree, and its centred logits are 0.
    const others = outside?.others?.map(({ score, threshold }) => [score, threshold]);
    const expected = { 'mutual-information': 0, energy: -Math.log(2), 'max-logit': 0, variance: 0 };
    expect(others).toEqual(Object.entries(expected).map(([score, value]) => [score, expect.closeTo(value, 6)]));
  });

  it('takes what suits values', () => {
    const { calibration, conformal, outside } = fitWith({ alpha: 0.25 }, values);
    expect(calibration).toEqual({ method: 'sigma', scales: [expect.closeTo(scale, 12)] });
    expect(conformal).toMatchObject({
      method: 'sigma-scaled',
      margins: [expect.closeTo(2 / scale, 12)],
      quantiles: null,
    });
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
    expect(() => fitWith({ conformal: 'cqr' })).toThrow('ask for thr, raps, aps or none');
    expect(() => fitWith({ method: 'vector' }, values)).toThrow('ask for sigma or none');
    expect(() => fitWith({ conformal: 'aps' }, values)).toThrow('ask for sigma-scaled, split or none');
    expect(() => fitWith({ isClassConditional: true }, values)).toThrow('no classes');
    const single = {
      ...values,
      means: { members: 1, samples: 4 * times, values: new Float32Array(4 * times).fill(1) },
    };
    expect(() => fitWith({ method: 'sigma' }, single)).toThrow('none does');
    expect(() => fitWith({ outside: 'variance' }, single)).toThrow('more than one member');
    expect(fitWith({}, single)).toMatchObject({ calibration: null, conformal: { method: 'split' }, outside: null });
  });
});

describe('figures', () => {
  it('of classes are those before and after', () => {
    const { calibration, conformal } = measurePostprocessing(fitWith({ conformal: 'thr', alpha: 0.4 }), classes);
    expect(calibration?.before.ece).toBeCloseTo((3 * (0.9 - 2 / 3)) / 4 + 0.5 / 4, 6);
    expect(calibration?.after.ece).toBeCloseTo((3 * (sure - 2 / 3)) / 4 + 0.5 / 4, 5);
    const nll = (-2 * Math.log(sure) - Math.log(1 - sure) + Math.log(2)) / 4;
    expect(calibration?.after.nll).toBeCloseTo(nll, 6);
    expect(calibration?.after.acc).toBe(0.5);
    expect(calibration?.reliability?.before).toHaveLength(15);
    expect(conformal).toMatchObject({ coverage: 0.75, meanSize: 1.25, classCoverage: [1, 0.5] });
  });

  it('of values without variances are those of one Gaussian', () => {
    const { calibration } = measurePostprocessing(fitWith({}, values), values);
    const nll = (variance: number) => (Math.log(2 * Math.PI * variance) + 4 / variance) / 2;
    expect(calibration?.before.gaussian_nll).toBeCloseTo(nll(1), 12);
    expect(calibration?.after.gaussian_nll).toBeCloseTo(nll(scale ** 2), 12);
  });

  it('of detection have the share above the threshold', () => {
    const fitted = fitWith({ quantile: 0.5 });
    expect(flaggedShare(fitted, classes)).toBe(0.25);
    const { scores, flagged, samples } = measureDetection(fitted, classes, classes, { name: 'same', kind: 'data' });
    expect([samples, flagged]).toEqual([4 * times, 0.25]);
    expect(scores.entropy.auroc).toBe(0.5);
    expect(Object.keys(scores)).toEqual(['entropy', 'mutual-information', 'energy', 'max-logit', 'variance']);
  });
});

describe('parts without a common sample', () => {
  /** The probability of class 0 and the targets tell which sample it is. */
  const numbered = (count: number, others: Partial<ClassSamples> = {}): ClassSamples => ({
    kind: 'classes',
    stack: {
      members: 1,
      samples: count,
      classes: 2,
      logits: Float32Array.from({ length: 2 * count }, (_, index) => (index % 2 === 0 ? index / 2 : 0)),
    },
    targets: Int32Array.from({ length: count }, (_, row) => row % 2),
    ...others,
  });
  const numbersOf = (samples: ReturnType<typeof divideSamples>[number]): number[] =>
    samples.kind === 'classes' && 'logits' in samples.stack
      ? Array.from(samples.stack.logits.filter((_, index) => index % 2 === 0))
      : [];

  it('hold all samples, by chance that the seed decides', () => {
    const weights = Float64Array.from({ length: 20 }, (_, row) => row + 1);
    const [first, others] = divideSamples(numbered(20, { weights }), 0.3, 7);
    expect(numbersOf(first)).toHaveLength(6);
    expect([...numbersOf(first), ...numbersOf(others)].toSorted((a, b) => a - b)).toEqual(
      Array.from(weights, (weight) => weight - 1),
    );
    expect([...(others.weights ?? [])]).toEqual(numbersOf(others).map((row) => row + 1));
    expect(Array.from(others.targets)).toEqual(numbersOf(others).map((row) => row % 2));
    expect(numbersOf(divideSamples(numbered(20), 0.3, 7)[0])).toEqual(numbersOf(first));
    expect(numbersOf(divideSamples(numbered(20), 0.3, 8)[0])).not.toEqual(numbersOf(first));
  });

  it('keep the steps of a sample together', () => {
    const owners = Int32Array.from({ length: 12 }, (_, row) => Math.floor(row / 3));
    const [first, others] = divideSamples(numbered(12, { owners }), 0.5, 7);
    expect(numbersOf(first)).toHaveLength(6);
    const ownersIn = (part: typeof first) => new Set(numbersOf(part).map((row) => Math.floor(row / 3)));
    expect([...ownersIn(first)].filter((owner) => ownersIn(others).has(owner))).toEqual([]);
  });

  it('divide values with all their targets', () => {
    const two: ValueSamples = {
      ...values,
      means: { members: 2, samples: 8, values: Float32Array.from({ length: 16 }, (_, index) => index) },
      columns: 2,
      targets: [0, 1, 2, 3, 4, 5, 6, 7],
      weights: Float64Array.of(1, 2, 3, 4),
    };
    for (const part of divideSamples(two, 0.5, 7)) {
      const means = part.kind === 'values' ? [...part.means.values] : [];
      expect(means.slice(0, 4)).toEqual(Array.from(part.targets));
      expect(means.slice(4)).toEqual(means.slice(0, 4).map((value) => value + 8));
      expect([...(part.weights ?? [])]).toEqual([means[0] / 2 + 1, means[2] / 2 + 1]);
    }
  });

  it('fit the calibration and the rest', () => {
    const samples = numbered(20);
    const { calibration, conformal, outside, parts } = fitPostprocessing(
      { ...usualRequest, method: 'pooled-temperature', conformal: 'thr', alpha: 0.2 },
      samples,
      7,
    );
    expect(parts).toEqual({ calibration: 10, others: 10 });
    const [first, others] = divideSamples(samples, 0.5, 7);
    const alone = (part: typeof first, change: Partial<PostprocessingRequest>) => fitWith(change, part);
    expect(calibration).toEqual(alone(first, { method: 'pooled-temperature' }).calibration);
    // Without a calibration no sample is needed for it.
    expect(fitPostprocessing({ ...usualRequest, method: 'none', conformal: 'thr' }, samples, 7).parts).toBeNull();
    expect(fitPostprocessing({ ...usualRequest, conformal: 'none' }, samples, 7).parts).toBeNull();
    expect(outside).toEqual(fitWith({}, samples).outside);
    // One member's logits divided by the temperature are those of its calibrated probabilities.
    const temperature = calibration?.method === 'pooled-temperature' ? calibration.temperature : NaN;
    const { stack } = others as ClassSamples;
    const logits = 'logits' in stack ? stack.logits.map((logit) => logit / temperature) : new Float32Array();
    const scaled = { ...(others as ClassSamples), stack: { ...stack, logits } };
    const [threshold] = conformal?.kind === 'sets' ? conformal.thresholds : [];
    const expected = alone(scaled, { method: 'none', conformal: 'thr', alpha: 0.2 }).conformal;
    expect(threshold).toBeCloseTo(expected?.kind === 'sets' ? expected.thresholds[0] : NaN, 6);
  });

  it('are refused where one would be empty', () => {
    expect(() => divideSamples(numbered(1), 0.5, 7)).toThrow(
      'there are 1 to fit on. Fit everything on all of them: --calibration-share 1.',
    );
  });
});

describe('weights', () => {
  /** Each sample as often as its weight says. */
  const repeated = ({ stack, targets, weights }: ClassSamples): ClassSamples => {
    const rows = [...targets.keys()].flatMap((row) => Array.from({ length: weights?.[row] ?? 1 }, () => row));
    const all = 'logits' in stack ? stack.logits : stack.values;
    const size = all.length / stack.members;
    const copied = Array.from({ length: stack.members }, (_, member) =>
      rows.flatMap((row) => [...all.subarray(member * size + row * 2, member * size + row * 2 + 2)]),
    );
    return {
      kind: 'classes',
      stack: { members: stack.members, samples: rows.length, classes: 2, logits: Float32Array.from(copied.flat()) },
      targets: Int32Array.from(rows, (row) => targets[row]),
    };
  };

  it('count as that many copies of a sample', () => {
    const logits = Float32Array.from({ length: 2 * 12 * 2 }, (_, index) => ((index * 37) % 23) / 4 - 3);
    const weighted: ClassSamples = {
      kind: 'classes',
      stack: { members: 2, samples: 12, classes: 2, logits },
      targets: Int32Array.from({ length: 12 }, (_, row) => Number(row % 5 < 2)),
      weights: Float64Array.from({ length: 12 }, (_, row) => (row % 3) + 1),
    };
    const copies = repeated(weighted);
    for (const method of ['pooled-temperature', 'joint-temperatures', 'vector', 'isotonic'] as const) {
      const [own, other] = [weighted, copies].map((samples) => fitClassCalibration(method, samples));
      expect(JSON.stringify(own, rounded)).toBe(JSON.stringify(other, rounded));
      const fitted = { calibration: own, conformal: null, outside: null, selective: null };
      const [figures, expected] = [weighted, copies].map((samples) => measurePostprocessing(fitted, samples));
      const { nll, ece, brier, acc } = figures.calibration?.after ?? {};
      expect(JSON.stringify({ nll, ece, brier, acc }, rounded)).toBe(
        JSON.stringify(expected.calibration?.after, rounded),
      );
    }
  });

  it('count for coverage, with the standard error of fewer samples', () => {
    const fitted = fitWith({ method: 'none', conformal: 'thr', alpha: 0.4 });
    const { conformal } = measurePostprocessing(fitted, { ...classes, weights: Float64Array.from(repeat(1, 2, 1, 1)) });
    // Only the second sample is missed. (1 + 2 + 1 + 1)² / (1 + 4 + 1 + 1) = 25 / 7.
    expect(conformal?.coverage).toBeCloseTo(0.6, 12);
    expect(conformal?.standardError).toBeCloseTo(Math.sqrt((0.24 * 7) / 25 / times), 12);
    expect(conformal?.meanSize).toBeCloseTo((4 + 2) / 5, 12);
  });
});

const rounded = (_: string, value: unknown): unknown => (typeof value === 'number' ? Number(value.toFixed(2)) : value);
