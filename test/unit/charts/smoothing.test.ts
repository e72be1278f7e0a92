import { describe, expect, it } from 'vitest';
import { DebiasedSmoothing } from '../../../src-renderer/charts/smoothing.ts';

function smooth(weight: number, values: readonly number[]): number[] {
  return [...new DebiasedSmoothing(weight).extend(Float64Array.from(values), values.length).subarray(0, values.length)];
}

describe('DebiasedSmoothing', () => {
  it('is the mean with weights that decay by w, computed by hand', () => {
    // 1; (0.5 * 1 + 2) / 1.5; (0.25 * 1 + 0.5 * 2 + 6) / 1.75
    expect(smooth(0.5, [1, 2, 6])).toEqual([1, 5 / 3, 7.25 / 1.75].map((value) => expect.closeTo(value, 12)));
    // w = 0.9: (0.9 * 10 + 0) / 1.9
    expect(smooth(0.9, [10, 0])[1]).toBeCloseTo(9 / 1.9, 12);
  });

  it('leaves a constant unchanged from its first point on', () => {
    expect(smooth(0.99, [0.3, 0.3, 0.3, 0.3])).toEqual(Array.from({ length: 4 }, () => expect.closeTo(0.3, 12)));
  });

  it('skips values that are not finite', () => {
    expect(smooth(0.5, [1, NaN, 2, Infinity])).toEqual([1, NaN, expect.closeTo(5 / 3, 12), Infinity]);
  });

  it('does not change smoothed values when more arrive', () => {
    const smoothing = new DebiasedSmoothing(0.8);
    const y = Float64Array.from([4, 1, 3, 2, 9]);
    const early = smoothing.extend(y, 3).slice(0, 3);
    const later = smoothing.extend(y, 5);
    expect([...later.subarray(0, 3)]).toEqual([...early]);
    expect([...later.subarray(0, 5)]).toEqual(smooth(0.8, [...y]));
  });

  it('refuses a weight that would never forget', () => {
    expect(() => new DebiasedSmoothing(1)).toThrow('at least 0 and below 1, not 1');
  });
});
