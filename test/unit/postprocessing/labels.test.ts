import { describe, expect, it } from 'vitest';
import { crossValidate } from '../../../core/postprocessing/calibration/judge.ts';
import { applyToLabels, type Fitted } from '../../../core/postprocessing/apply.ts';
import { confidenceAndLosses } from '../../../core/postprocessing/answers.ts';
import { fitPostprocessing } from '../../../core/postprocessing/fit.ts';
import { divideSamples, type LabelSamples } from '../../../core/postprocessing/held-out.ts';
import { fitLabelCalibration, fitLabelSets } from '../../../core/postprocessing/fit-labels.ts';
import { labelOutsideScores } from '../../../core/postprocessing/outside/scores.ts';
import { measurePostprocessing } from '../../../core/postprocessing/measure.ts';
import { usualRequest } from '../../../core/postprocessing/request.ts';
import type { PredictionScore } from '../../../core/postprocessing/schema.ts';
import { readGolden } from '../../golden/read-golden.ts';
import { agreement } from '../metrics/recorded.ts';

/** Written by make_labels.py. */
const recorded = readGolden('postprocessing/labels.json') as {
  cases: {
    name: string;
    shape: [number, number, number];
    logits: number[];
    /** -1: does not count. */
    targets: number[];
    weights: number[] | null;
    shared: number;
    each: number[];
    platt: [number, number][];
    calibrated: number[];
    thresholds: (number | string)[] | null;
    nll: number;
    brier: number;
    losses: number[];
    scores: Record<PredictionScore, number[]>;
  }[];
};

const nothing: Fitted = { calibration: null, conformal: null, outside: null, selective: null };

function samplesOf({ shape, logits, targets, weights }: (typeof recorded.cases)[number]): LabelSamples {
  const [members, samples, classes] = shape;
  return {
    kind: 'labels',
    stack: { members, samples, classes, logits: Float32Array.from(logits) },
    targets: targets.map((target) => Math.max(target, 0)),
    ...(weights && { weights: Float64Array.from(weights) }),
    ...(targets.includes(-1) && { counted: Uint8Array.from(targets, (target) => Number(target >= 0)) }),
  };
}

function expectClose(found: ArrayLike<number>, expected: readonly number[], digits: number): void {
  expect(found).toHaveLength(expected.length);
  expected.forEach((value, index) => expect(found[index], `entry ${index}`).toBeCloseTo(value, digits));
}

describe('labels against SciPy and scikit-learn', () => {
  it.each(recorded.cases)('$name', (given) => {
    const samples = samplesOf(given);
    const shared = fitLabelCalibration('label-temperature', samples);
    expectClose(
      shared.scale.map((scale) => 1 / scale),
      given.each.map(() => given.shared),
      5,
    );
    const each = fitLabelCalibration('label-temperatures', samples);
    expectClose(
      each.scale.map((scale) => 1 / scale),
      given.each,
      5,
    );
    const platt = fitLabelCalibration('platt', samples);
    expectClose(
      platt.scale,
      given.platt.map(([scale]) => scale),
      5,
    );
    expectClose(
      platt.bias,
      given.platt.map(([, bias]) => bias),
      5,
    );

    const fitted = { ...nothing, calibration: shared };
    const { probabilities } = applyToLabels(fitted, samples.stack);
    expectClose(probabilities, given.calibrated, 5);
    given.thresholds?.forEach((threshold, label) =>
      expect(agreement(fitLabelSets(0.2, probabilities, samples).thresholds[label], Number(threshold))).toBeLessThan(
        1e-5,
      ),
    );
    const { nll, brier } = measurePostprocessing(fitted, samples).calibration?.after ?? {};
    expect(nll).toBeCloseTo(given.nll, 6);
    expect(brier).toBeCloseTo(given.brier, 6);
    expectClose(confidenceAndLosses(fitted, samples).losses, given.losses, 12);
    for (const [score, expected] of Object.entries(given.scores)) {
      expectClose(labelOutsideScores(score as PredictionScore, samples.stack), expected, 6);
    }
  });
});

describe('answers of labels', () => {
  /** One member, logits of two labels: both certain, both undecided. */
  const samples: LabelSamples = {
    kind: 'labels',
    stack: { members: 1, samples: 2, classes: 2, logits: Float32Array.of(Math.log(9), -Math.log(4), 0, 0) },
    targets: [1, 0, 1, 1],
  };

  it('have the labels whose absence is unlikely enough, and the expected share of right ones', () => {
    const fitted: Fitted = {
      ...nothing,
      conformal: {
        kind: 'sets',
        method: 'thr',
        alpha: 0.1,
        thresholds: [0.2, Infinity],
        isClassConditional: true,
        penalty: 0,
        freeRanks: 0,
        counts: [20],
      },
      selective: { threshold: 0.6, wishedRisk: 0.1, risk: 0, coverage: 0.5 },
    };
    const answers = applyToLabels(fitted, samples.stack);
    expectClose(answers.probabilities, [0.9, 0.2, 0.5, 0.5], 6);
    expect([...(answers.sets ?? [])]).toEqual([1, 1, 0, 1]);
    expectClose(answers.confidence, [0.85, 0.5], 6);
    expect([...(answers.isWithheld ?? [])]).toEqual([0, 1]);
    // Three labels are present, two of them in the sets.
    const { conformal } = measurePostprocessing(fitted, samples);
    expect(conformal).toMatchObject({
      coverage: expect.closeTo(2 / 3, 12) as number,
      meanSize: 1.5,
      classCoverage: [0.5, 1],
    });
    expect(conformal?.standardError).toBeCloseTo(Math.sqrt(2 / 27), 12);
  });

  it('are fitted by what suits labels', () => {
    const [given] = recorded.cases;
    const fitted = fitPostprocessing(
      { ...usualRequest, method: 'label-temperature', risk: 0.3, alpha: 0.2 },
      samplesOf(given),
      7,
    );
    expect(fitted).toMatchObject({
      calibration: { method: 'labels', fit: 'shared', bias: [0, 0, 0] },
      conformal: { method: 'thr', isClassConditional: true },
      outside: { score: 'entropy' },
      parts: { calibration: 40, others: 40 },
    });
    expect(fitted.selective?.risk).toBeLessThanOrEqual(0.3);
    const refuse = (change: Partial<typeof usualRequest>) => () =>
      fitPostprocessing({ ...usualRequest, ...change }, samplesOf(given), 7);
    expect(refuse({ method: 'vector' })).toThrow('ask for label-temperature, label-temperatures, platt or none');
    expect(refuse({ conformal: 'aps' })).toThrow('ask for thr or none');
    expect(() => applyToLabels(fitted, samples.stack)).toThrow('have 2 labels, the calibration was fitted for 3');
  });

  it('keep targets and masks together when they are divided', () => {
    const [, given] = recorded.cases;
    const all = samplesOf(given);
    const parts = divideSamples(all, 0.5, 7);
    const [first] = parts;
    expect(first).toMatchObject({ kind: 'labels', stack: { samples: 30, classes: 2 } });
    const sum = (values: ArrayLike<number> = []) => Array.from(values).reduce((total, value) => total + value, 0);
    expect(parts.reduce((total, { targets }) => total + sum(targets), 0)).toBe(sum(all.targets));
    const counted = parts.reduce((total, part) => total + sum(part.kind === 'labels' ? part.counted : []), 0);
    expect(counted).toBe(sum(all.counted));
  });

  it('stay as they are where a label has no target that counts', () => {
    const uncounted = { ...samples, counted: Uint8Array.of(1, 0, 1, 0) };
    expect(fitLabelCalibration('label-temperatures', uncounted).scale[1]).toBe(1);
    expect(fitLabelCalibration('platt', uncounted)).toMatchObject({
      scale: [expect.any(Number), 1],
      bias: [expect.any(Number), 0],
    });
    expect(fitLabelSets(0.1, Float64Array.of(0.9, 0.2, 0.5, 0.5), uncounted).thresholds).toEqual([Infinity, Infinity]);
  });

  it('are judged by the mean gain of each sample over its targets that count', () => {
    const [logits, targets] = [
      [2, -1, 0.5, 3],
      [1, 1, 0, 1],
    ];
    const halved = { method: 'labels' as const, fit: 'shared' as const };
    const judged = (labels: LabelSamples) => {
      const { classes } = labels.stack;
      return crossValidate(
        () => ({ ...halved, scale: Array<number>(classes).fill(0.5), bias: Array<number>(classes).fill(0) }),
        labels,
        7,
      );
    };
    const one: LabelSamples = {
      kind: 'labels',
      stack: { members: 1, samples: 4, classes: 1, logits: Float32Array.from(logits) },
      targets,
    };
    // log σ(±z/2) − log σ(±z) of each sample, and what p = σ(z) expects of it; four samples with that count beside the
    // four that were seen.
    const gainOf = (z: number) => Math.log1p(Math.exp(-z)) - Math.log1p(Math.exp(-z / 2));
    const seen = logits.map((z, n) => gainOf(targets[n] === 1 ? z : -z));
    const expected = logits.map((z) => {
      const p = 1 / (1 + Math.exp(-z));
      return p * gainOf(z) + (1 - p) * gainOf(-z);
    });
    const mean = [...seen, ...expected].reduce((sum, value) => sum + value, 0) / 8;
    expect(judged(one).gain.mean).toBeCloseTo(mean, 7);

    const pairs = (values: readonly number[], other: readonly number[]) =>
      values.flatMap((value, n) => (n % 2 === 0 ? [other[n], value] : [value, other[n]]));
    const doubled = { ...one.stack, classes: 2, logits: Float32Array.from(pairs(logits, logits)) };
    expect(judged({ ...one, stack: doubled, targets: pairs(targets, targets) })).toEqual(judged(one));
    const others = [9, -7, 5, 8];
    const masked: LabelSamples = {
      kind: 'labels',
      stack: { ...one.stack, classes: 2, logits: Float32Array.from(pairs(logits, others)) },
      targets: pairs(targets, [0, 1, 1, 0]),
      counted: Uint8Array.from(pairs([1, 1, 1, 1], [0, 0, 0, 0])),
    };
    expect(judged(masked)).toEqual(judged(one));
  });
});
