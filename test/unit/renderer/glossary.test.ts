import { describe, expect, it } from 'vitest';
import { classificationMetrics, regressionMetrics } from '../../../core/metrics/index.ts';
import { entryOfMetric } from '../../../src-renderer/components/basic/glossary.ts';

/** Two members' probabilities, samples by classes, and their labels. They disagree on the second sample. */
const p = [
  [
    [0.5, 0.25, 0.25],
    [0.25, 0.625, 0.125],
  ],
  [
    [0.75, 0.125, 0.125],
    [0.5, 0.25, 0.25],
  ],
];
const labels = [0, 1];
/** Means and variances of three members, and the targets. */
const mu = [
  [1, 4],
  [2, 6],
  [6, 5],
];
const variance = [
  [1, 4],
  [0.25, 2],
  [2, 1],
];
const targets = [2, 5];

const classification = classificationMetrics(
  { members: 2, samples: 2, classes: 3, values: Float32Array.from(p.flat(2)) },
  Int32Array.from(labels),
  [0, 1],
);
const regression = regressionMetrics(
  { members: 3, samples: 2, values: Float32Array.from(mu.flat()) },
  { members: 3, samples: 2, values: Float32Array.from(variance.flat()) },
  Float32Array.from(targets),
  [0, 1, 2],
);

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
/** The mean over both samples. */
const overSamples = (of: (n: number) => number): number => mean([of(0), of(1)]);
const pBar = (n: number): number[] => [0, 1, 2].map((k) => (p[0][n][k] + p[1][n][k]) / 2);
const entropy = (row: number[]): number => -row.reduce((sum, value) => sum + value * Math.log(value), 0);
const muBar = (n: number): number => (mu[0][n] + mu[1][n] + mu[2][n]) / 3;
const squares = (n: number): number =>
  (mu[0][n] - muBar(n)) ** 2 + (mu[1][n] - muBar(n)) ** 2 + (mu[2][n] - muBar(n)) ** 2;
const normal = (y: number, center: number, v: number): number =>
  Math.exp(-((y - center) ** 2) / (2 * v)) / Math.sqrt(2 * Math.PI * v);
const density = (m: number, n: number): number => normal(targets[n], mu[m][n], variance[m][n]);

const memberNll = (m: number): number => -overSamples((n) => Math.log(p[m][n][labels[n]]));
const ensembleNll = -overSamples((n) => Math.log(pBar(n)[labels[n]]));
const gaussianMemberNll = (m: number): number => -overSamples((n) => Math.log(density(m, n)));
const mixtureNll = -overSamples((n) => Math.log((density(0, n) + density(1, n) + density(2, n)) / 3));
const memberMse = (m: number): number => overSamples((n) => (mu[m][n] - targets[n]) ** 2);
const ensembleMse = overSamples((n) => (muBar(n) - targets[n]) ** 2);

/** Metric, the page's formula, and the value of that formula. */
type Case = [metric: string, formula: string, value: number];

const classificationCases: Case[] = [
  ['ens_nll', '−1/N Σ log p̄(y)', ensembleNll],
  ['member_1_nll', '−1/N Σ log p_m(y)', memberNll(1)],
  ['avg_member_nll', '−1/(M·N) Σ_m Σ log p_m(y)', (memberNll(0) + memberNll(1)) / 2],
  ['ambiguity', '1/M Σ_m NLL_m − NLL', (memberNll(0) + memberNll(1)) / 2 - ensembleNll],
  ['ens_acc', '1/N Σ [argmax p̄ = y]', 1],
  ['member_1_acc', '1/N Σ [argmax p_m = y]', 0.5],
  // Confidences 0.625 and 0.4375 fall into different bins, and both predictions are correct.
  ['ens_ece', 'Σ_b |b|/N · |accuracy(b) − confidence(b)|', 0.5 * (1 - 0.625) + 0.5 * (1 - 0.4375)],
  [
    'ens_brier',
    '1/N Σ Σ_k (p̄_k − [y = k])²',
    (0.375 ** 2 + 2 * 0.1875 ** 2 + 0.375 ** 2 + 0.5625 ** 2 + 0.1875 ** 2) / 2,
  ],
  ['member_0_brier', '1/N Σ Σ_k (p_m,k − [y = k])²', (0.25 + 0.125 + 0.0625 + 0.140625 + 0.015625) / 2],
  ['disagreement', '2/(M(M − 1)) Σ_m<m′ 1/N Σ [argmax p_m ≠ argmax p_m′]', 0.5],
  ['not_unanimous', '1/N Σ [argmax p_m differ]', 0.5],
  ['predictive_entropy', '1/N Σ H(p̄), H(p) = −Σ_k p_k log p_k', overSamples((n) => entropy(pBar(n)))],
  [
    'mutual_information',
    '1/N Σ (H(p̄) − 1/M Σ_m H(p_m))',
    overSamples((n) => entropy(pBar(n)) - (entropy(p[0][n]) + entropy(p[1][n])) / 2),
  ],
];

const meanGaussianNll = mean([0, 1, 2].map(gaussianMemberNll));
const meanMse = mean([0, 1, 2].map(memberMse));
const regressionCases: Case[] = [
  ['ens_nll', '−1/N Σ log(1/M Σ_m Normal(y; μ_m, σ²_m))', mixtureNll],
  ['member_2_nll', '−1/N Σ log Normal(y; μ_m, σ²_m)', gaussianMemberNll(2)],
  ['avg_member_nll', '−1/(M·N) Σ_m Σ log Normal(y; μ_m, σ²_m)', meanGaussianNll],
  ['ambiguity', '1/M Σ_m NLL_m − NLL', meanGaussianNll - mixtureNll],
  ['ens_mse', '1/N Σ (μ̄ − y)²', ensembleMse],
  ['member_2_mse', '1/N Σ (μ_m − y)²', memberMse(2)],
  ['avg_member_mse', '1/(M·N) Σ_m Σ (μ_m − y)²', meanMse],
  ['ensemble_gain', '1/M Σ_m MSE_m − MSE', meanMse - ensembleMse],
  ['ens_std', '1/N Σ √(1/(M − 1) Σ_m (μ_m − μ̄)²)', overSamples((n) => Math.sqrt(squares(n) / 2))],
  ['epistemic_variance', '1/N Σ 1/M Σ_m (μ_m − μ̄)²', overSamples((n) => squares(n) / 3)],
  ['aleatoric_variance', '1/N Σ 1/M Σ_m σ²_m', (3.25 / 3 + 7 / 3) / 2],
];

describe('the formula of the glossary matches the computation:', () => {
  it.each(classificationCases)('classification, %s', (metric, formula, value) => {
    expect(entryOfMetric(`val/${metric}`, 'classification')?.formula).toBe(formula);
    expect(entryOfMetric(`val/${metric}`, 'binary')?.formula).toBe(formula);
    expect(classification.get(metric)).toBeCloseTo(value, 12);
  });

  it.each(regressionCases)('regression, %s', (metric, formula, value) => {
    expect(entryOfMetric(`val/${metric}`, 'heteroscedastic-regression')?.formula).toBe(formula);
    expect(regression.get(metric)).toBeCloseTo(value, 12);
  });
});

describe('the glossary', () => {
  it.each([
    ['val/ens_nll', 'NLL'],
    ['val/member_12_nll', 'NLL'],
    ['val/avg_member_nll', 'Mean member NLL'],
    ['val/product_nll', 'Product of experts'],
    ['val/ambiguity', 'Diversity gain'],
    ['train/member_{rank}_coupling_loss', 'Coupling loss'],
    ['train/base_learning_rate', 'Adapted value'],
  ])('has %s under "%s"', (metric, name) => {
    expect(entryOfMetric(metric, 'classification')?.name).toBe(name);
  });

  it('has exactly the metrics of the ensemble', () => {
    for (const metric of classification.keys()) expect(entryOfMetric(metric, 'classification'), metric).not.toBeNull();
    for (const metric of regression.keys()) expect(entryOfMetric(metric, 'regression'), metric).not.toBeNull();
    expect(entryOfMetric('train/loss', 'classification')).toBeNull();
  });
});
