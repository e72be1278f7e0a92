import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAxis, linearTicks, logTicks, type Range, rangeOf } from '../../../workers/plots/axis.ts';

const labels = (ticks: readonly { label: string }[]): string[] => ticks.map(({ label }) => label);
const values = (ticks: readonly { value: number }[]): number[] => ticks.map(({ value }) => value);

describe('linear ticks', () => {
  const cases: [range: Range, count: number, expected: string[]][] = [
    [[0, 10], 5, ['0', '2', '4', '6', '8', '10']],
    [[0.13, 0.87], 5, ['0.2', '0.4', '0.6', '0.8']],
    [[-1, 1], 4, ['−1.0', '−0.5', '0.0', '0.5', '1.0']],
    [[1000, 1003], 3, ['1000', '1001', '1002', '1003']],
    [[0, 1], 10, ['0.0', '0.1', '0.2', '0.3', '0.4', '0.5', '0.6', '0.7', '0.8', '0.9', '1.0']],
    [[0, 40_000], 4, ['0', '10000', '20000', '30000', '40000']],
    [[0, 400_000], 4, ['0', '1×10⁵', '2×10⁵', '3×10⁵', '4×10⁵']],
    [[0, 0.0005], 5, ['0', '1×10⁻⁴', '2×10⁻⁴', '3×10⁻⁴', '4×10⁻⁴', '5×10⁻⁴']],
    [[-2.5e6, 0], 5, ['−2.5×10⁶', '−2.0×10⁶', '−1.5×10⁶', '−1.0×10⁶', '−0.5×10⁶', '0']],
  ];
  it.each(cases)('%j with about %i', (range, count, expected) => {
    expect(labels(linearTicks(range, count))).toEqual(expected);
  });

  it('gives exact multiples without accumulated rounding errors', () => {
    expect(values(linearTicks([0, 0.7], 7))).toEqual([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]);
    expect(Object.is(values(linearTicks([-1, 1], 2))[1], 0)).toBe(true);
  });

  it('keeps ticks at least the smallest step apart: there is no epoch 1.5', () => {
    expect(labels(linearTicks([0.9, 3.1], 6, 1))).toEqual(['1', '2', '3']);
  });

  it('stays within the range and near the count', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -1e6, max: 1e6, noNaN: true }),
        fc.double({ min: 1e-3, max: 1e6, noNaN: true }),
        fc.integer({ min: 2, max: 12 }),
        (low, extent, count) => {
          const ticks = values(linearTicks([low, low + extent], count));
          expect(ticks.length).toBeLessThanOrEqual(count + 1);
          expect(ticks.length).toBeGreaterThanOrEqual(Math.floor(count / 2.5));
          for (const tick of ticks) {
            expect(tick).toBeGreaterThanOrEqual(low - extent * 1e-5);
            expect(tick).toBeLessThanOrEqual(low + extent * (1 + 1e-5));
          }
        },
      ),
    );
  });
});

describe('logarithmic ticks', () => {
  const cases: [range: Range, count: number, expected: string[]][] = [
    [[0.5, 2000], 5, ['1', '10', '100', '1000']],
    [[1e-6, 1e-2], 5, ['10⁻⁶', '10⁻⁵', '10⁻⁴', '10⁻³', '10⁻²']],
    [[1e-8, 1], 3, ['10⁻⁸', '10⁻⁵', '10⁻²']],
    [[0.15, 3], 5, ['0.2', '0.5', '1', '2']],
    [[2e6, 8e6], 5, ['2×10⁶', '5×10⁶']],
    [[2.1, 4.9], 4, ['3', '4']],
    [[1, 1000], 5, ['1', '10', '100', '1000']],
  ];
  it.each(cases)('%j with about %i', (range, count, expected) => {
    expect(labels(logTicks(range, count))).toEqual(expected);
  });
});

describe('axes', () => {
  it('map values to fractions of their length', () => {
    const linear = createAxis('linear', [-1, 3], 4);
    expect([-1, 0, 1, 3, 5].map(linear.fraction)).toEqual([0, 0.25, 0.5, 1, 1.5]);
    const log = createAxis('log', [0.01, 100], 4);
    expect([0.01, 0.1, 1, 100].map(log.fraction)).toEqual([0, 0.25, 0.5, 1]);
  });

  it('have no position for values that cannot be drawn', () => {
    const linear = createAxis('linear', [0, 1], 4);
    expect([NaN, Infinity, -Infinity].map(linear.fraction)).toEqual([NaN, NaN, NaN]);
    const log = createAxis('log', [0.1, 1], 4);
    expect([0, -1, NaN].map(log.fraction)).toEqual([NaN, NaN, NaN]);
  });
});

describe('automatic ranges', () => {
  it('cover all values that can be drawn, with room at the ends', () => {
    expect(rangeOf('linear', [[1, NaN, 3], new Float32Array([5, Infinity])], [0.25, 0.5])).toEqual([0, 7]);
    const [low, high] = rangeOf('log', [[0, -3, 0.1, 10]], [0.5, 1]);
    expect(low).toBeCloseTo(0.01, 12);
    expect(high).toBeCloseTo(1000, 9);
  });

  it('have an extent without data, and for constant data', () => {
    expect(rangeOf('linear', [], [0.1, 0.1])).toEqual([0, 1]);
    expect(rangeOf('linear', [[NaN]], [0.1, 0.1])).toEqual([0, 1]);
    expect(rangeOf('log', [[0, -1]], [0.1, 0.1])).toEqual([0.1, 10]);
    expect(rangeOf('linear', [[4, 4]], [0, 0])).toEqual([2, 6]);
    expect(rangeOf('linear', [[-4]], [0, 0])).toEqual([-6, -2]);
    expect(rangeOf('linear', [[0]], [0, 0])).toEqual([-1, 1]);
    expect(rangeOf('log', [[5]], [0, 0])).toEqual([0.5, 50]);
  });
});
