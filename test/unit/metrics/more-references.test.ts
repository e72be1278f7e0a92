import { describe, expect, it } from 'vitest';
import {
  classificationMetrics,
  countEnsembleMetrics,
  labelEnsembleMetrics,
  regressionMetrics,
} from '../../../core/metrics/index.ts';
import { determination } from '../../../core/metrics/scores/value-scores.ts';
import { readGolden } from '../../golden/read-golden.ts';
import { agreement } from './recorded.ts';

interface Case {
  name: string;
  shape: [members: number, samples: number, width: number];
  targets: number[];
  ensemble: Record<string, number>;
  members: Record<string, number>[];
}

/** Written by make_more_metrics.py. */
const { versions, classification, regression } = readGolden('metrics/more-metrics.json') as {
  versions: Record<string, string>;
  classification: (Case & { values: number[]; disagreement: number })[];
  regression: (Case & { means: number[]; variances: number[] })[];
};
const more = [...new Set([...classification, ...regression].flatMap(({ ensemble }) => Object.keys(ensemble)))];

function expectRecorded({ ensemble, members }: Case, found: ReadonlyMap<string, number>): void {
  const subjects = [['ens', ensemble] as const, ...members.map((scores, m) => [`member_${m}`, scores] as const)];
  for (const [subject, scores] of subjects) {
    for (const [name, expected] of Object.entries(scores)) {
      const value = found.get(`${subject}_${name}`) ?? NaN;
      expect(agreement(value, expected), `${subject}_${name}: ${value} for ${expected}`).toBeLessThan(1e-7);
    }
  }
}

const ranksOf = ({ members }: Case): number[] => members.map((_, member) => member);
const others = Object.entries(versions).map(([name, version]) => `${name} ${version}`);

describe(`metrics on request against ${others.join(', ')}`, () => {
  it.each(classification)('classification: $name', (given) => {
    const [members, samples, classes] = given.shape;
    const stack = { members, samples, classes, logits: Float32Array.from(given.values) };
    const found = classificationMetrics(stack, Int32Array.from(given.targets), ranksOf(given), { more });
    expectRecorded(given, found);
    expect(found.get('disagreement')).toBeCloseTo(given.disagreement, 12);
  });

  it.each(regression)('regression: $name', (given) => {
    const [members, rows, columns] = given.shape;
    const stackOf = (values: number[]) => ({ members, samples: rows * columns, values: Float32Array.from(values) });
    const targets = Float32Array.from(given.targets);
    const [means, variances] = [stackOf(given.means), stackOf(given.variances)];
    expectRecorded(given, regressionMetrics(means, variances, targets, ranksOf(given), { more, columns }));
  });
});

describe('the NLL with an epsilon', () => {
  it('is that of the published example: -log(p + 1e-8)', () => {
    const stack = { members: 2, samples: 1, classes: 2, values: Float32Array.of(1, 0, 0.5, 0.5) };
    const found = classificationMetrics(stack, Int32Array.of(1), [0, 1], { nllEpsilon: 1e-8 });
    expect(found.get('member_0_nll')).toBeCloseTo(-Math.log(1e-8), 12);
    expect(found.get('ens_nll')).toBeCloseTo(-Math.log(0.25 + 1e-8), 12);
    expect(found.get('avg_member_nll')).toBeCloseTo((-Math.log(1e-8) - Math.log(0.5 + 1e-8)) / 2, 12);
    expect(classificationMetrics(stack, Int32Array.of(1), [0, 1]).get('member_0_nll')).toBe(Infinity);
  });

  it('has it for each label, of the mean, the members and the product', () => {
    // Probabilities 3/4 and 1/2 of a label that is there, 1/4 and 1/2 of one that is not.
    const logits = Float32Array.of(Math.log(3), -Math.log(3), 0, 0);
    const stack = { members: 2, samples: 1, classes: 2, logits };
    const options = { nllEpsilon: 0.125, combination: 'product' as const };
    const found = labelEnsembleMetrics(stack, [1, 0], [0, 1], options);
    expect(found.get('ens_nll')).toBeCloseTo(-Math.log(0.75), 7);
    expect(found.get('member_0_nll')).toBeCloseTo(-Math.log(0.875), 7);
    expect(found.get('avg_member_nll')).toBeCloseTo(-(Math.log(0.875) + Math.log(0.625)) / 2, 7);
    // σ(log(3) / 2) = √3 / (1 + √3).
    expect(found.get('product_nll')).toBeCloseTo(-Math.log(Math.sqrt(3) / (1 + Math.sqrt(3)) + 0.125), 7);
    const certain = { ...stack, logits: Float32Array.of(-2000, 0, -2000, 0) };
    expect(labelEnsembleMetrics(certain, [1, 0], [0, 1], { nllEpsilon: 1e-8 }).get('ens_nll')).toBeCloseTo(
      -(Math.log(1e-8) + Math.log(0.5 + 1e-8)) / 2,
      7,
    );
  });
});

describe('metrics without a value', () => {
  it('are NaN: AUROC of one class, R² of equal targets, and all of them where a prediction is not finite', () => {
    const one = { members: 1, samples: 2, classes: 2, values: Float32Array.of(0.75, 0.25, 0.5, 0.5) };
    expect(classificationMetrics(one, Int32Array.of(1, 1), [0], { more }).get('ens_auroc')).toBeNaN();
    const means = { members: 1, samples: 2, values: Float32Array.of(1, 2) };
    const variances = { members: 1, samples: 2, values: Float32Array.of(1, NaN) };
    const found = regressionMetrics(means, variances, Float32Array.of(3, 3), [0], { more });
    for (const name of ['r2', 'crps', 'coverage_90']) expect(found.get(`ens_${name}`), name).toBeNaN();
    // The weighted mean of equal targets is not exactly these.
    const weights = Float64Array.of(0.1, 0.7, 0.3);
    const [predictions, equal] = [Float64Array.of(1, 2, 3), Float64Array.of(0.1, 0.1, 0.1)];
    expect(determination(predictions, equal, 1, weights)).toBeNaN();
    expect(determination(predictions, Float64Array.of(0.1, 0.1, 9), 1, Float64Array.of(0.7, 0.1, 0))).toBeNaN();
    // Residuals 0.1 · 1 + 0.3 · 1, total 0.1 · 2.25 + 0.3 · 0.25 around 2.5: 1 − 0.4 / 0.3.
    expect(determination(Float64Array.of(2, 4), Float64Array.of(1, 3), 1, Float64Array.of(0.1, 0.3))).toBeCloseTo(
      -1 / 3,
      12,
    );
    const broken = { ...one, values: Float32Array.of(NaN, 0.25, 0.5, 0.5) };
    const classes = classificationMetrics(broken, Int32Array.of(0, 1), [0], { more });
    expect([...classes.values()].every(Number.isNaN)).toBe(true);
  });
});

describe('the NLL of a product of Poisson distributions', () => {
  // By mpmath 1.3 with 40 digits: −(y ln √(ab) − √(ab) − ln y!). The rate rounded to float32 errs from the second
  // decimal on.
  it.each([
    { rates: [1e6, 3e6], count: 1e6, nll: 182752.489928718 },
    { rates: [3e6, 7e6], count: 5e6, nll: 18467.7942305695 },
  ])('has the digits of float64 for rates of $rates', ({ rates, count, nll }) => {
    const stack = { members: 2, samples: 1, values: Float32Array.from(rates) };
    const found = countEnsembleMetrics(stack, Float64Array.of(count), [0, 1], { combination: 'product' });
    expect(found.get('product_nll')).toBeCloseTo(nll, 5);
  });
});
