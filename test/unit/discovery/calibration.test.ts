import { describe, expect, it } from 'vitest';
import { calibrationOf } from '../../../core/discovery/calibration.ts';
import { sampleOfPool, sampleSize } from '../../../core/discovery/belief.ts';

describe('the calibration of a chosen batch', () => {
  it('of a class compares the mean probability with the share of hits', () => {
    const choice = {
      indices: [4, 5, 6, 7],
      means: [0.9, 0.5, 0.2, 0.6],
      deviations: [0, 0, 0, 0],
      noises: [0, 0, 0, 0],
    };
    const labels = new Map([
      [4, 1],
      [5, 0],
      [6, 2],
    ]);
    const found = calibrationOf({ kind: 'class', label: 1 }, choice, labels);
    if (found?.kind !== 'hits') throw new Error('It is of values.');
    // Candidate 7 has no label yet.
    expect(found.count).toBe(3);
    expect(found.predicted).toBeCloseTo(1.6 / 3, 12);
    expect(found.observed).toBeCloseTo(1 / 3, 12);
    // √(0.9 · 0.1 + 0.5 · 0.5 + 0.2 · 0.8) / 3
    expect(found.error).toBeCloseTo(Math.sqrt(0.5) / 3, 12);
  });

  it('of values counts labels within the deviation of members and noise together, in the direction of the search', () => {
    // Means of a search for small values are negated: the predictions are 1, 2, 3 and 4, with a deviation of √(9 + 16)
    // = 5.
    const choice = {
      indices: [0, 1, 2, 3],
      means: [-1, -2, -3, -4],
      deviations: [3, 3, 3, 3],
      noises: [16, 16, 16, 16],
    };
    const labels = new Map([
      [0, 6],
      [1, -6.5],
      [2, 3],
      [3, 16.5],
    ]);
    const found = calibrationOf({ kind: 'minimize', threshold: null }, choice, labels);
    // z is 1, -1.7, 0 and 2.5.
    expect(found).toMatchObject({ kind: 'values', count: 4, within68: 0.5, within95: 0.75 });
    if (found?.kind !== 'values') throw new Error('It is of hits.');
    expect(found.meanZ).toBeCloseTo(0.45, 12);
    // The mean of 1, 2.89, 0 and 6.25 is 2.535.
    expect(found.deviationZ).toBeCloseTo(Math.sqrt(2.535 - 0.45 ** 2), 12);
  });

  it('does not count what has no label or no prediction', () => {
    const choice = { indices: [0, 1], means: [NaN, 0.5], deviations: [NaN, 0.1], noises: [] };
    expect(calibrationOf({ kind: 'class', label: 1 }, choice, new Map([[0, 1]]))).toBeNull();
    // Lines of older searches have no noise.
    const values = { ...choice, means: [2, 2], deviations: [1, 1] };
    const found = calibrationOf({ kind: 'maximize', threshold: null }, values, new Map([[0, 3]]));
    expect(found).toMatchObject({ count: 1, meanZ: 1, within68: 1 });
  });
});

describe('the sample of a pool', () => {
  it('is the whole of a small pool, and of a large one the same candidates for the same seed', () => {
    expect([...sampleOfPool(4, 7)]).toEqual([0, 1, 2, 3]);
    const sample = sampleOfPool(50_000, 7);
    expect(new Set(sample).size).toBe(sampleSize);
    expect([...sample]).toEqual([...sample].sort((a, b) => a - b));
    expect(sampleOfPool(50_000, 7)).toEqual(sample);
    expect(sampleOfPool(50_000, 8)).not.toEqual(sample);
    // The mean of a sample of 3,000 has a standard deviation of 50,000 / √12 / √3,000 = 264.
    const mean = sample.reduce((sum, own) => sum + own, 0) / sampleSize;
    expect(Math.abs(mean - 25_000)).toBeLessThan(4 * 264);
  });
});
