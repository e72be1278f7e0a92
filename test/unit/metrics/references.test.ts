import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  classificationMetrics,
  memberProbabilities,
  meanProbabilities,
  type Metrics,
  type Probabilities,
  productMetrics,
  productOfExperts,
  regressionMetrics,
  reliabilityBins,
  stackedClasses,
} from '../../../protocol/metrics/index.ts';
import { agreement, type Recorded, recordedNumber } from './recorded.ts';

/** By recorded/make_metrics.py. */
const recorded = JSON.parse(readFileSync(new URL('recorded/metrics.json', import.meta.url), 'utf8')) as Recorded;
const { torch, torchmetrics, mapie, scipy } = recorded.versions;
const others = `PyTorch ${torch}, torchmetrics ${torchmetrics}, MAPIE ${mapie}, SciPy ${scipy}`;

/** Relative; what is smaller than 1e-3 may differ by 1e-12 of 1: values near 0 are differences of values near 1. */
const tolerance = 1e-9;

function expectMetrics(metrics: Metrics, expected: Record<string, number | string | undefined>): void {
  for (const [name, value] of Object.entries(expected)) {
    if (value === undefined) continue;
    expect(agreement(metrics.get(name) ?? 'missing', recordedNumber(value)), name).toBeLessThan(tolerance);
  }
}

describe(`classification metrics against ${others}`, () => {
  it.each(recorded.classification)('$name', (given) => {
    const [members, samples, classes] = given.shape;
    const values = Float32Array.from(given.values, recordedNumber);
    const targets = Int32Array.from(given.targets);
    const stack = stackedClasses({ kind: given.form, members, samples, width: classes, values });
    const ranks = given.members.map((_, member) => member);
    const metrics = classificationMetrics(stack, targets, ranks);
    const subjects = [
      { prefix: 'ens', scores: given.ensemble, metrics, probabilities: meanProbabilities(stack) },
      ...given.members.map((scores, member) => ({
        prefix: `member_${member}`,
        scores,
        metrics,
        probabilities: memberProbabilities(stack, member),
      })),
      ...(given.product === null
        ? []
        : [
            {
              prefix: 'product',
              scores: given.product,
              metrics: productMetrics(stack, targets),
              probabilities: productOfExperts(stack),
            },
          ]),
    ];
    for (const { prefix, scores, metrics: found, probabilities } of subjects) {
      const { nll, acc, ece, brier, bins } = scores;
      const named = { nll, acc, ece, brier };
      expectMetrics(
        found,
        Object.fromEntries(Object.entries(named).map(([name, value]) => [`${prefix}_${name}`, value])),
      );
      // torchmetrics sums in float32.
      const own = found.get(`${prefix}_ece`) ?? NaN;
      const { ece_torchmetrics: other = own } = scores;
      expect(agreement(own, other), 'ECE of torchmetrics').toBeLessThan(1e-4);
      if (bins !== undefined) expectBins(probabilities, targets, bins);
    }
    expectMetrics(metrics, {
      predictive_entropy: given.predictive_entropy,
      mutual_information: given.mutual_information,
      disagreement: given.disagreement,
    });
  });
});

/** scikit-learn's `calibration_curve` leaves out empty bins. */
function expectBins(probabilities: Probabilities, targets: Int32Array, expected: readonly [number, number][]): void {
  const bins = reliabilityBins(probabilities, targets).filter(({ count }) => count > 0);
  expect(bins).toHaveLength(expected.length);
  for (const [index, [accuracy, confidence]] of expected.entries()) {
    expect(agreement(bins[index].accuracy, accuracy)).toBeLessThan(tolerance);
    expect(agreement(bins[index].confidence, confidence)).toBeLessThan(tolerance);
  }
}

describe(`binary metrics against ${others}`, () => {
  it.each(recorded.binary)('$name', (given) => {
    const [members, samples] = given.shape;
    const values = Float32Array.from(given.values);
    const stack = stackedClasses({ kind: 'logits', members, samples, width: 1, values });
    const ranks = given.member_nll.map((_, member) => member);
    const metrics = classificationMetrics(stack, Int32Array.from(given.targets), ranks);
    expectMetrics(metrics, {
      ens_nll: given.ensemble_nll,
      ...Object.fromEntries(given.member_nll.map((nll, member) => [`member_${member}_nll`, nll])),
      ...Object.fromEntries(given.member_acc.map((acc, member) => [`member_${member}_acc`, acc])),
    });
    // Near certainty also the small likelihoods themselves, not only their distance from 0.
    for (const [member, nll] of given.member_nll.entries()) {
      expect((metrics.get(`member_${member}_nll`) ?? NaN) / nll).toBeCloseTo(1, 6);
    }
  });
});

describe(`regression metrics against ${others}`, () => {
  it.each(recorded.regression)('$name', (given) => {
    const [members, samples] = given.shape;
    const stackOf = (values: number[]) => ({ members, samples, values: Float32Array.from(values) });
    const ranks = given.member_mse.map((_, member) => member);
    const metrics = regressionMetrics(
      stackOf(given.means),
      stackOf(given.variances),
      Float32Array.from(given.targets),
      ranks,
    );
    const { ens_mse, ens_nll, ens_std, aleatoric, epistemic } = given;
    expectMetrics(metrics, {
      ens_mse,
      ens_nll,
      ens_std,
      aleatoric,
      epistemic,
      ...Object.fromEntries(given.member_mse.map((mse, member) => [`member_${member}_mse`, mse])),
      ...Object.fromEntries(given.member_nll.map((nll, member) => [`member_${member}_nll`, nll])),
    });
  });
});
