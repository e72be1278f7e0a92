import { describe, expect, it } from 'vitest';
import {
  aleatoricStd,
  coverageLevels,
  coverageLine,
  epistemicStd,
  featureBand,
  marginalError,
  residuals,
  transforms,
  valueStack,
} from '../../../src-renderer/views/run/figures/regression-figures.ts';

/** Members predict N(1, 1), N(3, 1) and N(2, 1), N(5, 4) for the targets 1 and 4. */
const stack = valueStack({
  combination: 'mean',
  task: 'heteroscedastic-regression',
  kind: 'values',
  ranks: [0, 1],
  epoch: 0,
  samples: 2,
  width: 1,
  outputs: [Float32Array.of(1, 3, 2, 5), Float32Array.of(1, 1, 1, 4)],
  targets: Float32Array.of(1, 4),
  feature: null,
  classNames: null,
  targetNames: null,
  areHeldOut: false,
  weights: null,
  places: null,
  positions: 1,
});

describe('regression metrics of kept predictions, by hand', () => {
  it('variances: the mean predicted one, and that between members, as in predictions', () => {
    expect([...aleatoricStd(stack)]).toEqual([1, Math.sqrt(2.5)]);
    expect([...epistemicStd(stack)]).toEqual([0.5, 1]);
    expect([...aleatoricStd({ ...stack, variances: null })]).toEqual([0, 0]);
  });

  it('a single member has no spread', () => {
    const means = { members: 1, samples: 2, values: stack.means.values.slice(0, 2) };
    const single = { ...stack, means, variances: null };
    expect([...epistemicStd(single)]).toEqual([0, 0]);
    expect(marginalError(single)).toEqual([]);
  });

  it('marginal NLL: without member 0, member 1 alone has -(ln .24197 + ln .17603) / 2', () => {
    const alone = -(Math.log(0.2419707) + Math.log(0.1760327)) / 2;
    // Of both, the mixture's NLL is -(ln((.39894 + .24197) / 2) + ln((.24197 + .17603) / 2)) / 2 = 1.3517.
    expect(marginalError(stack)[0]).toBeCloseTo(alone - 1.3517109, 5);
  });

  it('marginal MSE without variances: member 1 alone has errors 1 and 1, both together .25 and 0', () => {
    expect(marginalError({ ...stack, variances: null })).toEqual([1 - 0.125, 0.5 - 0.125]);
  });

  it('orders the band by the feature', () => {
    const band = featureBand(stack, Float32Array.of(7, -7));
    expect([...band.feature]).toEqual([-7, 7]);
    expect([...band.mean]).toEqual([4, 1.5]);
    expect([...band.target]).toEqual([4, 1]);
    expect([...band.epistemicStd]).toEqual([1, 0.5]);
  });

  it('refuses features and predictions of different lengths', () => {
    expect(() => featureBand(stack, Float32Array.of(1, 2, 3))).toThrow('3 feature values for 2 predictions');
  });
});

describe('residuals and calibration of regressors, by hand', () => {
  it('residuals are targets minus the mean of the members', () => {
    const { predicted, residual } = residuals(stack);
    expect([...predicted]).toEqual([1.5, 4]);
    expect([...residual]).toEqual([-0.5, 0]);
  });

  it('transforms are those of the mixture, or of some members; none without variances', () => {
    // Φ(0) and Φ(-1); Φ(1) and Φ(-1/2).
    const [half, low, high, lower] = [0.5, 0.15865525, 0.84134475, 0.30853754];
    const rounded = (values: Float64Array | null) => Array.from(values ?? [], (value) => Number(value.toFixed(8)));
    expect(rounded(transforms(stack))).toEqual([(half + low) / 2, (high + lower) / 2].map((u) => Number(u.toFixed(8))));
    expect(rounded(transforms(stack, [1]))).toEqual([low, lower]);
    expect(transforms({ ...stack, variances: null })).toBeNull();
  });

  it('coverage: u = 0.5 is in all intervals, u = 0.25 in those from 50 %', () => {
    const line = coverageLine(Float64Array.of(0.5, 0.25), null);
    expect(coverageLevels[10]).toBe(0.5);
    expect(line.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 0.5));
    expect(line.slice(10)).toEqual(Array.from({ length: 11 }, () => 1));
    expect(coverageLine(Float64Array.of(0.5, 0.25), Float64Array.of(3, 1))[0]).toBe(0.75);
  });
});
