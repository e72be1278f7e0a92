import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  classificationMetrics,
  countEnsembleMetrics,
  labelEnsembleMetrics,
  type Metrics,
  quantileEnsembleMetrics,
  regressionMetrics,
  scoresOfLabels,
} from '../../../core/metrics/index.ts';
import { registry } from '../../../core/metrics/registry/index.ts';
import { readGolden } from '../../golden/read-golden.ts';
import { agreement } from './recorded.ts';

interface Case {
  kind: string;
  shape: [members: number, samples: number, width: number];
  outputs: number[][];
  levels?: number[];
  targets: number[];
  weights: number[];
  found: Record<string, number>;
  labels?: { samples: number; auroc: number; ap: number; f1: number }[];
}

/** Written by make_weighted_metrics.py. */
const { versions, cases } = readGolden('metrics/weighted-metrics.json') as {
  versions: Record<string, string>;
  cases: Case[];
};
const more = registry.map(({ name }) => name);

function metricsOf({ kind, shape: [members, samples, width], outputs, levels = [], targets, weights }: Case): Metrics {
  const ranks = Array.from({ length: members }, (_, member) => member);
  const options = { more, weights: Float64Array.from(weights) };
  const stackOf = (values: number[]) => ({ members, samples: samples * width, values: Float32Array.from(values) });
  const logits = { members, samples, classes: width, logits: Float32Array.from(outputs[0]) };
  const values = Float32Array.from(targets);
  switch (kind) {
    case 'classification':
    case 'ordinal':
      return classificationMetrics(logits, Int32Array.from(targets), ranks, options, kind);
    case 'multi-label':
      return labelEnsembleMetrics(logits, values, ranks, options);
    case 'poisson-regression':
      return countEnsembleMetrics(stackOf(outputs[0]), values, ranks, options);
    case 'quantile-regression':
      return quantileEnsembleMetrics(stackOf(outputs[0]), values, ranks, levels, options);
    default:
      return regressionMetrics(stackOf(outputs[0]), stackOf(outputs[1]), values, ranks, { ...options, columns: width });
  }
}

const others = Object.entries(versions).map(([name, version]) => `${name} ${version}`);

describe(`metrics with weights against ${others.join(', ')}`, () => {
  it.each(cases.map((given) => ({ given, name: `${given.kind} [${given.shape.join(', ')}]` })))(
    '$name',
    ({ given }) => {
      const found = metricsOf(given);
      for (const [name, expected] of Object.entries(given.found)) {
        const value = found.get(name) ?? NaN;
        expect(agreement(value, expected), `${name}: ${value} for ${expected}`).toBeLessThan(1e-7);
      }
    },
  );

  it('have a recorded value for every metric but the other intervals and what scikit-learn has not with weights', () => {
    const recorded = new Set(cases.flatMap(({ found }) => Object.keys(found)));
    const without = registry.filter(({ name, of }) => !recorded.has(of === 'ensemble' ? name : `ens_${name}`));
    expect(new Set(without.map(({ name }) => name))).toEqual(
      new Set(['equal_mass_ece', 'top3_acc', 'top5_acc', 'top10_acc', 'coverage_50', 'coverage_95']),
    );
  });
});

describe('the scores of each label', () => {
  const [given] = cases.filter(({ labels }) => labels !== undefined);
  const [members, samples, classes] = given.shape;
  const stack = { members, samples, classes, logits: Float32Array.from(given.outputs[0]) };

  it('are those of scikit-learn, by name', () => {
    const found = scoresOfLabels(stack, given.targets, ['sea', 'sun', 'sand'], Float64Array.from(given.weights));
    expect(found.map(({ label }) => label)).toEqual(['sea', 'sun', 'sand']);
    for (const [i, expected] of (given.labels ?? []).entries()) {
      for (const name of ['samples', 'auroc', 'ap', 'f1'] as const) {
        expect(agreement(found[i][name], expected[name]), `${name} of ${found[i].label}`).toBeLessThan(1e-7);
      }
    }
  });

  it('have as their means the metrics of the ensemble', () => {
    const found = scoresOfLabels(stack, given.targets);
    const metrics = labelEnsembleMetrics(stack, given.targets, [0, 1, 2], { more });
    for (const name of ['auroc', 'ap', 'f1'] as const) {
      const average = found.reduce((sum, scores) => sum + scores[name], 0) / found.length;
      expect(metrics.get(`ens_${name}`)).toBeCloseTo(average, 12);
    }
    expect(found.map(({ label }) => label)).toEqual(['0', '1', '2']);
  });
});

describe('targets of weight 0', () => {
  it.each(cases)('count in no metric, whatever is predicted for them: $kind', (given) => {
    const expected = metricsOf(given);
    const [, samples, width] = given.shape;
    const perSample = given.targets.length / samples;
    const outputs = given.outputs.map((values) =>
      values.map((value, index) => {
        const sample = Math.floor(index / width) % samples;
        const target = perSample === 1 ? sample : sample * perSample + (index % width);
        // A float32 that is no prediction of anything else; variances stay positive.
        return given.weights[target] === 0 ? 0.015625 : value;
      }),
    );
    expect([...metricsOf({ ...given, outputs })]).toEqual([...expected]);
  });
});

describe('weights of classes', () => {
  it('that are whole numbers repeat a sample', () => {
    const sample = fc.record({
      logits: fc.array(fc.integer({ min: -64, max: 64 }), { minLength: 3, maxLength: 3 }),
      target: fc.integer({ min: 0, max: 2 }),
      weight: fc.integer({ min: 0, max: 3 }),
    });
    const given = fc
      .array(sample, { minLength: 1, maxLength: 12 })
      .filter((all) => all.some(({ weight }) => weight > 0));
    const metrics = (samples: { logits: number[]; target: number }[], weights?: Float64Array) =>
      classificationMetrics(
        {
          members: 1,
          samples: samples.length,
          classes: 3,
          logits: Float32Array.from(samples.flatMap(({ logits }) => logits.map((logit) => logit / 16))),
        },
        Int32Array.from(samples, ({ target }) => target),
        [0],
        { more, weights },
      );
    fc.assert(
      fc.property(given, ([first, ...others]) => {
        const total = [first, ...others].reduce((sum, { weight }) => sum + weight, 0);
        // The 15 bins of equal mass hold as many repeated samples each.
        const samples = [{ ...first, weight: first.weight + ((15 - (total % 15)) % 15) }, ...others];
        const weighted = metrics(
          samples,
          Float64Array.from(samples, ({ weight }) => weight),
        );
        const repeated = metrics(samples.flatMap((one) => Array.from({ length: one.weight }, () => one)));
        for (const [name, value] of repeated)
          expect(agreement(weighted.get(name) ?? Infinity, value), name).toBeLessThan(1e-10);
      }),
      { numRuns: 100, seed: 3 },
    );
  });

  it.each([
    [[1, -1], 'weights[1] is -1'],
    [[1, NaN], 'weights[1] is NaN'],
    [[0, 0], 'All 2 targets have weight 0'],
    [[1], 'weights holds 1 values'],
  ])('%j are refused', (weights, message) => {
    const stack = { members: 1, samples: 2, classes: 2, logits: Float32Array.of(1, 0, 0, 1) };
    expect(() =>
      classificationMetrics(stack, Int32Array.of(0, 1), [0], { weights: Float64Array.from(weights) }),
    ).toThrow(message);
  });
});
