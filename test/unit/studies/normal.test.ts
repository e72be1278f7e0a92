import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  logExpectedImprovement,
  logExpectedImprovementSlope,
  logNormalDistribution,
  normalDensity,
  normalDistribution,
  normalQuantile,
} from '../../../core/numeric/normal.ts';
import { readGolden } from '../../golden/read-golden.ts';

const pairs = z.array(z.tuple([z.number(), z.number()]));
const recorded = z
  .object({ normal: pairs, logNormal: pairs, quantile: pairs, logImprovement: pairs })
  .parse(readGolden('search/statistics.json'));

describe('the normal distribution agrees with SciPy', () => {
  it.each([
    ['distribution', normalDistribution, recorded.normal, 2e-15],
    ['logarithm of the distribution', logNormalDistribution, recorded.logNormal, 2e-15],
    ['quantile', normalQuantile, recorded.quantile, 1e-14],
    ['logarithm of the expected improvement', logExpectedImprovement, recorded.logImprovement, 1e-12],
  ])('%s', (_, compute, values, tolerance) => {
    for (const [x, expected] of values) {
      // Far tails of exp(-x²/2) magnify the rounding of x².
      const allowed = tolerance * Math.max(1, (x * x) / 8);
      expect(Math.abs(compute(x) - expected) / Math.max(Math.abs(expected), 1e-300), `at ${x}`).toBeLessThan(allowed);
    }
  });

  it('is infinite at the ends of the quantiles and undefined outside', () => {
    expect(normalQuantile(0)).toBe(-Infinity);
    expect(normalQuantile(1)).toBe(Infinity);
    expect(normalQuantile(-0.1)).toBeNaN();
    expect(normalDistribution(NaN)).toBeNaN();
  });

  it('has the density at 0 and at 1', () => {
    expect(normalDensity(0)).toBeCloseTo(0.3989422804014327, 15);
    expect(normalDensity(1)).toBeCloseTo(0.24197072451914337, 15);
  });

  it.each([-300, -30, -2, -0.5, 0, 1, 4])('slope of the logarithm of the improvement at %d', (x) => {
    const step = 1e-5 * Math.max(1, Math.abs(x));
    const slope = (logExpectedImprovement(x + step) - logExpectedImprovement(x - step)) / (2 * step);
    expect(Math.abs(logExpectedImprovementSlope(x) / slope - 1)).toBeLessThan(1e-6);
  });
});
