import { describe, expect, it } from 'vitest';
import { classScores, classSets } from '../../../core/postprocessing/conformal/class-sets.ts';
import { fitSets } from '../../../core/postprocessing/conformal/fit-conformal.ts';
import { labelSets } from '../../../core/postprocessing/label-answers.ts';

const row = (...values: number[]) => ({ samples: 1, classes: values.length, values: Float64Array.from(values) });
const aps = { method: 'aps', penalty: 0, freeRanks: 0, alpha: 0.5 } as const;

describe('what rounding must not decide', () => {
  it('is a sum of probabilities that equals the threshold', () => {
    // In float64 0.6 + 0.3 is 0.8999999999999999, and 0.5 + 0.4 is 0.9.
    expect(0.6 + 0.3 < 0.5 + 0.4).toBe(true);
    const fitted = fitSets(aps, row(0.6, 0.3, 0.1), Int32Array.of(1), false);
    expect(fitted.thresholds).toEqual([0.6 + 0.3]);
    expect([...classSets(fitted, row(0.5, 0.4, 0.1))]).toEqual([1, 1, 0]);
    const raps = { ...fitted, method: 'raps' as const, penalty: 0.1, freeRanks: 1, thresholds: [0.6 + 0.3 + 0.1] };
    expect([...classSets(raps, row(0.5, 0.4, 0.1))]).toEqual([1, 1, 0]);
  });

  it('is the rank of classes of the same probability', () => {
    const exact = [...classScores(aps, row(0.3, 0.3, 0.4))];
    const rounded = [...classScores(aps, row(0.3, 0.1 + 0.2, 0.4))];
    expect(0.1 + 0.2).toBeGreaterThan(0.3);
    exact.forEach((score, k) => expect(rounded[k]).toBeCloseTo(score, 12));
    expect(exact[0]).toBeCloseTo(0.7, 12);
    expect(exact[1]).toBeCloseTo(1, 12);
  });

  it('is a class or a label at the threshold of its own probability', () => {
    const fitted = {
      ...fitSets({ ...aps, method: 'thr' }, row(0.9, 0.1), Int32Array.of(0), false),
      thresholds: [1 - 0.7],
    };
    // 1 − 0.7 is 0.30000000000000004; a probability of 0.7 by another sum is 0.7000000000000001 or 0.7.
    expect([...classSets(fitted, row(0.7 - 1e-16, 0.3 + 1e-16))]).toEqual([1, 0]);
    expect([...labelSets({ ...fitted, thresholds: [0.1] }, Float64Array.of(0.9 - 2e-16), 1)]).toEqual([1]);
  });

  it('leaves apart what differs by more', () => {
    const fitted = { ...fitSets(aps, row(0.6, 0.3, 0.1), Int32Array.of(1), false), thresholds: [0.9 - 1e-6] };
    expect([...classSets(fitted, row(0.5, 0.4, 0.1))]).toEqual([1, 0, 0]);
  });
});
