import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  classificationMetrics,
  epistemicVariance,
  labelEnsembleMetrics,
  mean,
  type Metrics,
  regressionMetrics,
  totalVariance,
} from '../../../core/metrics/index.ts';
import { combineMembers } from '../../../core/ensemble/combine-members.ts';
import type { Fitted } from '../../../core/postprocessing/apply.ts';
import type { HeldOut, ValueSamples } from '../../../core/postprocessing/held-out.ts';
import { measurePostprocessing } from '../../../core/postprocessing/measure.ts';
import { classificationCase, regressionCase } from '../metrics/arbitraries.ts';

const nothing: Fitted = { calibration: null, conformal: null, outside: null, selective: null };
const more = ['coverage_90', 'coverage_95'];

/** What calibration reports before it changes anything is what the run reports under the same name. */
function expectRunsNumbers(samples: HeldOut, metrics: Metrics): void {
  const { before = {} } = measurePostprocessing(nothing, samples).calibration ?? {};
  expect(Object.keys(before)).not.toEqual([]);
  for (const [name, value] of Object.entries(before)) {
    const expected = metrics.get(`ens_${name}`);
    // Calibration takes the logarithm of a probability of 0 as that of the smallest float32.
    if (expected === undefined || expected === Infinity) continue;
    expect(value, name).toBeCloseTo(expected, 5);
  }
}

describe('one name is one number', () => {
  it('in figures of calibration and of the run: classes', () => {
    fc.assert(
      fc.property(classificationCase, ({ stack, targets }) => {
        const ranks = Array.from({ length: stack.members }, (_, rank) => rank);
        expectRunsNumbers({ kind: 'classes', stack, targets }, classificationMetrics(stack, targets, ranks));
      }),
    );
  });

  it('labels', () => {
    const logits = Float32Array.of(2, -1, 0.5, 1, -3, 0.25, 1, 1, -0.5, 2, 0, -2);
    const stack = { members: 2, samples: 2, classes: 3, logits };
    const targets = [1, 0, 0, 1, 0, 1];
    expectRunsNumbers({ kind: 'labels', stack, targets }, labelEnsembleMetrics(stack, targets, [0, 1]));
  });

  it('values with variances, whose NLL and coverage are those of the mixture', () => {
    fc.assert(
      fc.property(regressionCase, ({ means, variances, targets }) => {
        const ranks = Array.from({ length: means.members }, (_, rank) => rank);
        const metrics = regressionMetrics(means, variances, targets, ranks, { more });
        expect([...more, 'nll'].every((name) => metrics.has(`ens_${name}`))).toBe(true);
        expectRunsNumbers({ kind: 'values', means, variances, columns: 1, levels: null, targets }, metrics);
      }),
    );
  });

  it('in metrics and predictions: the epistemic variance is the mean square of the column', () => {
    fc.assert(
      fc.property(regressionCase, ({ means, variances, targets }) => {
        const { members, samples } = means;
        const metrics = regressionMetrics(means, variances, targets, [...Array(members).keys()]);
        const stack = { kind: 'values' as const, members, samples, width: 1, values: [means.values, variances.values] };
        const found = combineMembers(stack, { task: 'heteroscedastic-regression', combination: 'mean' });
        if (found.kind !== 'values' || found.aleatoric === null) throw new Error(found.kind);
        const close = (value: number, metric: string): void => {
          const expected = metrics.get(metric) ?? NaN;
          expect(Math.abs(value - expected)).toBeLessThan(1e-6 * Math.max(1, expected));
        };
        close(mean(found.epistemic.map((value) => value ** 2)), 'epistemic_variance');
        close(mean(found.aleatoric.map((value) => value ** 2)), 'aleatoric_variance');
        const total = mean(totalVariance(means, variances));
        expect(mean(found.standardDeviation.map((value) => value ** 2)) / total).toBeCloseTo(1, 6);
      }),
    );
  });
});

describe('figures of scaled values', () => {
  // Members Normal(0, 1) and Normal(2, 4): their mean is 1.
  const samples: ValueSamples = {
    kind: 'values',
    means: { members: 2, samples: 1, values: Float32Array.of(0, 2) },
    variances: { members: 2, samples: 1, values: Float32Array.of(1, 4) },
    columns: 1,
    levels: null,
    targets: [3],
  };
  const density = (x: number, centre: number, deviation: number): number =>
    Math.exp(-0.5 * ((x - centre) / deviation) ** 2) / (deviation * Math.sqrt(2 * Math.PI));
  const doubled: Fitted = { ...nothing, calibration: { method: 'sigma', scales: [2] } };

  it('are those of the mixture stretched about its mean', () => {
    const { calibration } = measurePostprocessing(doubled, samples);
    expect(calibration?.before.nll).toBeCloseTo(-Math.log((density(3, 0, 1) + density(3, 2, 2)) / 2), 12);
    // Twice as wide: Normal(-1, 4) and Normal(3, 16).
    expect(calibration?.after.nll).toBeCloseTo(-Math.log((density(3, -1, 2) + density(3, 3, 4)) / 2), 12);
  });

  it('have other names where there is no such density', () => {
    const counts = { ...samples, variances: samples.means, areCounts: true };
    for (const own of [counts, { ...samples, variances: null }]) {
      const names = Object.keys(measurePostprocessing(doubled, own).calibration?.after ?? {});
      expect(names).toEqual(['gaussian_nll', 'gaussian_coverage_90', 'gaussian_coverage_95']);
    }
    const spread = epistemicVariance(samples.means)[0];
    const { calibration } = measurePostprocessing(doubled, { ...samples, variances: null });
    expect(calibration?.after.gaussian_nll).toBeCloseTo(-Math.log(density(3, 1, 2 * Math.sqrt(spread))), 12);
  });
});
