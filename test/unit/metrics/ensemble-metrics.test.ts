import { describe, expect, it } from 'vitest';
import { classificationMetrics, regressionMetrics, toTwoClasses } from '../../../core/metrics/index.ts';
import {
  referenceLabels,
  referenceMeans,
  referenceProbabilities,
  referenceTargets,
  referenceVariances,
} from './reference.ts';

function closeTo(expected: Record<string, number>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(expected).map(([name, value]) => [name, expect.closeTo(value, 12)]));
}

describe('classificationMetrics', () => {
  const metrics = classificationMetrics(referenceProbabilities(), referenceLabels(), [0, 1, 4]);

  it('have each name once, with members by rank', () => {
    expect([...metrics.keys()]).toEqual([
      'ens_nll',
      'ens_acc',
      'ens_ece',
      'ens_brier',
      'avg_member_nll',
      'ambiguity',
      'disagreement',
      'not_unanimous',
      'predictive_entropy',
      'mutual_information',
      ...[0, 1, 4].flatMap((rank) => ['nll', 'acc', 'ece', 'brier'].map((score) => `member_${rank}_${score}`)),
    ]);
  });

  it('equals PyTorch and torchmetrics', () => {
    expect(Object.fromEntries(metrics)).toMatchObject(
      closeTo({
        ens_nll: 1.4385477964541187,
        ens_acc: 0.255,
        ens_ece: 0.08041071675096945,
        ens_brier: 0.7721672995797542,
        avg_member_nll: 1.6054042121633387,
        ambiguity: 1.6054042121633387 - 1.4385477964541187,
        disagreement: (0.855 + 0.755 + 0.77) / 3,
        not_unanimous: 0.935,
        predictive_entropy: 1.3473348963504679,
        mutual_information: 0.10597388176514233,
        member_0_nll: 1.5453484062720497,
        member_1_acc: 0.22,
        member_4_ece: 0.14771199226379397,
        member_4_brier: 0.8036830054854266,
      }),
    );
  });

  it('keep the other members finite if one is not, but not the ensemble', () => {
    const stack = referenceProbabilities();
    stack.values[stack.samples * stack.classes + 5] = NaN;
    const broken = classificationMetrics(stack, referenceLabels(), [0, 1, 4]);
    const names = [...broken].filter(([, value]) => Number.isNaN(value)).map(([name]) => name);
    expect(names).toEqual([...metrics.keys()].filter((name) => !/^member_[04]/.test(name)));
    expect(broken.get('member_4_nll')).toBe(metrics.get('member_4_nll'));
  });

  it('treat binary predictions as two classes, with 0.5 as class 0', () => {
    const positive = { members: 2, samples: 3, values: Float32Array.of(0.75, 0.25, 0.5, 0.5, 0.75, 0.5) };
    const stack = toTwoClasses(positive);
    expect([...stack.values.subarray(0, 4)]).toEqual([0.25, 0.75, 0.75, 0.25]);
    const binary = classificationMetrics(stack, Int32Array.of(1, 0, 0), [0, 1]);
    // Mean p(y = 1): 0.625, 0.5, 0.5. NLL: -(ln 0.625 + 2 ln 0.5) / 3.
    expect(binary.get('ens_nll')).toBeCloseTo(-(Math.log(0.625) + 2 * Math.log(0.5)) / 3, 7);
    expect(binary.get('ens_acc')).toBe(1);
    expect(binary.get('member_1_acc')).toBe(1 / 3);
    // Samples 0 and 1 are disputed.
    expect(binary.get('disagreement')).toBeCloseTo(2 / 3, 15);
  });

  it.each([[[0, 1]], [[0, 1, 1]]])('refuse ranks that do not fit the members: %j', (ranks) => {
    expect(() => classificationMetrics(referenceProbabilities(), referenceLabels(), ranks)).toThrow(
      `ranks [${ranks.join(', ')}] for 3 members`,
    );
  });
});

describe('regressionMetrics', () => {
  const [means, variances, targets] = [referenceMeans(), referenceVariances(), referenceTargets()];

  it('without variances: squared errors and spread, equal to PyTorch', () => {
    const metrics = regressionMetrics(means, null, targets, [0, 1, 4]);
    expect([...metrics.keys()]).toEqual([
      'ens_mse',
      'avg_member_mse',
      'ensemble_gain',
      'ens_std',
      'member_0_mse',
      'member_1_mse',
      'member_4_mse',
    ]);
    expect(Object.fromEntries(metrics)).toMatchObject(
      closeTo({
        ens_mse: 3.762647569444445,
        avg_member_mse: 6.480807291666667,
        ensemble_gain: 6.480807291666667 - 3.762647569444445,
        ens_std: 2.0183078336129494,
        member_0_mse: 5.45578125,
        member_1_mse: 6.797265625,
        member_4_mse: 7.189375,
      }),
    );
  });

  it('with variances: likelihoods and the decomposition too, equal to PyTorch', () => {
    const metrics = regressionMetrics(means, variances, targets, [0, 1, 4]);
    expect(metrics.size).toBe(7 + 5 + 3);
    expect(Object.fromEntries(metrics)).toMatchObject(
      closeTo({
        ens_mse: 3.762647569444445,
        ens_nll: 2.1024631765561628,
        avg_member_nll: 5.832449300333962,
        ambiguity: 5.832449300333962 - 2.1024631765561628,
        aleatoric_variance: 1.4883333333333335,
        epistemic_variance: (4.077239583333334 * 2) / 3,
        member_0_nll: 5.3708244144729544,
        member_1_nll: 6.913469903112878,
        member_4_nll: 5.213053583416053,
      }),
    );
  });

  it('refuse ranks that do not fit the members', () => {
    expect(() => regressionMetrics(means, null, targets, [0])).toThrow('ranks [0] for 3 members');
  });
});
