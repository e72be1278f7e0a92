import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { selectGreedily, smallestSubset } from '../../../core/postprocessing/selection.ts';

const logarithms = (...rows: number[][]) => rows.map((row) => Float64Array.from(row, Math.log));

describe('greedy selection', () => {
  it('adds what lowers the NLL of the mixture, and keeps the best prefix', () => {
    const candidates = logarithms([0.9, 0.4], [0.4, 0.9], [0.5, 0.5]);
    // Alone the first two are as good: the square root of 0.36. A third choice makes the mixture of both worse.
    const { chosen, nlls } = selectGreedily(candidates, 3);
    expect(chosen).toEqual([0, 1]);
    expect(nlls[0]).toBeCloseTo(-Math.log(0.6), 12);
    expect(nlls[1]).toBeCloseTo(-Math.log(0.65), 12);
    // Each further pair gives the same mixture, up to rounding.
    expect(selectGreedily(candidates).chosen).toEqual([0, 1]);
  });

  it('takes a member again where another one would be as good', () => {
    expect(selectGreedily(logarithms([0.5], [0.5]), 5)).toMatchObject({ chosen: [0] });
    expect(() => selectGreedily([])).toThrow('no candidate');
  });

  it('is never worse than the best candidate alone', () => {
    const row = fc.array(fc.double({ min: 0.01, max: 1, noNaN: true }), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 5 }), (rows) => {
        const candidates = logarithms(...rows);
        const alone = candidates.map((own) => -own.reduce((sum, value) => sum + value, 0) / own.length);
        expect(selectGreedily(candidates).nlls.at(-1)).toBeLessThanOrEqual(Math.min(...alone) + 1e-12);
      }),
    );
  });
});

describe('the smallest subset', () => {
  it('leaves out what the tolerance allows', () => {
    const candidates = logarithms([0.9, 0.2], [0.2, 0.9], [0.5, 0.5], [0.1, 0.1]);
    // Without the last, and then without the third, the mixture is better than with all.
    expect(smallestSubset(candidates, 0)).toEqual([0, 1]);
    expect(smallestSubset(candidates, 10)).toHaveLength(1);
  });
});
