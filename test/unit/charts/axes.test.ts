import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indicesWithin, nearestIndex } from '../../../src-renderer/charts/columns.ts';
import { countInBins } from '../../../src-renderer/charts/figures/bars.ts';
import {
  fractionOf,
  panBy,
  pixels,
  ticks,
  timeTicks,
  valueAt,
  zoomAround,
} from '../../../src-renderer/charts/scene/axes.ts';

const labels = (found: { label: string }[]): string[] => found.map(({ label }) => label);

describe('ticks', () => {
  it('are at multiples of 1, 2 or 5', () => {
    expect(ticks({ from: 0.05, to: 0.42, isLog: false }, 4).map(({ value }) => value)).toEqual([0.1, 0.2, 0.3, 0.4]);
    expect(labels(ticks({ from: 0, to: 100_000, isLog: false }, 5))).toEqual(['0', '20k', '40k', '60k', '80k', '100k']);
  });

  it('are at least three, however little room there is', () => {
    const values = (from: number, to: number, isLog: boolean) =>
      ticks({ from, to, isLog }, 2).map(({ value }) => value);
    expect(values(0.05, 0.9, false)).toEqual([0.2, 0.4, 0.6, 0.8]);
    expect(values(0.46, 0.61, false)).toEqual([0.5, 0.55, 0.6]);
    expect(values(0.2, 3, true)).toEqual([0.2, 0.5, 1, 2]);
    expect(values(1, 1000, true)).toEqual([1, 10, 100, 1000]);
    expect(values(2, 6000, true)).toEqual([10, 100, 1000]);
  });

  it('of logarithms are decades, and 2 and 5 times them if there is room', () => {
    expect(ticks({ from: 1, to: 1000, isLog: true }, 4).map(({ value }) => value)).toEqual([1, 10, 100, 1000]);
    expect(ticks({ from: 0.1, to: 10, isLog: true }, 8).map(({ value }) => value)).toEqual([
      0.1, 0.2, 0.5, 1, 2, 5, 10,
    ]);
    expect(ticks({ from: 1e-8, to: 1, isLog: true }, 4).map(({ value }) => value)).toEqual([1e-8, 1e-6, 1e-4, 0.01, 1]);
  });

  it('of time are at whole minutes and hours', () => {
    const times = (to: number, most: number) => labels(timeTicks({ from: 0, to, isLog: false }, most));
    expect(times(5400, 4)).toEqual(['0 s', '30 m', '1 h', '1 h 30 m']);
    expect(times(50, 4)).toEqual(['0 s', '15 s', '30 s', '45 s']);
    expect(times(400 * 86_400, 5)).toEqual(['0 s', '100 d', '200 d', '300 d', '400 d']);
  });
});

describe('ticks of any axis', () => {
  const span = fc.tuple(
    fc.double({ min: 1e-9, max: 1e9, noNaN: true }),
    fc.double({ min: 1e-3, max: 1e9, noNaN: true }),
  );

  it('lie within it in rising order, and are at least three and hardly more than fit', () => {
    fc.assert(
      fc.property(span, fc.double({ min: 2, max: 14, noNaN: true }), fc.boolean(), ([from, width], most, isLog) => {
        const scale = { from, to: from + width * from, isLog };
        const values = ticks(scale, most).map(({ value }) => value);
        for (const value of values) {
          expect(value).toBeGreaterThanOrEqual(from * (1 - 1e-9));
          expect(value).toBeLessThanOrEqual(scale.to * (1 + 1e-9));
        }
        expect(values).toEqual([...new Set(values)].sort((a, b) => a - b));
        expect(values.length).toBeGreaterThanOrEqual(3);
        expect(values.length).toBeLessThanOrEqual(Math.max(most + 1, 9));
      }),
      { seed: 11, numRuns: 500 },
    );
  });
});

describe('scales', () => {
  const linear = { from: 10, to: 30, isLog: false };
  const log = { from: 1, to: 100, isLog: true };

  it('map values to positions and back', () => {
    expect(fractionOf(linear, 15)).toBe(0.25);
    expect(fractionOf(log, 10)).toBeCloseTo(0.5, 12);
    expect(fractionOf(log, 0)).toBeNaN();
    expect(valueAt(log, 0.5)).toBeCloseTo(10, 12);
    expect([10, 15, 30].map(pixels(linear, 100, 0))).toEqual([100, 75, 0]);
    expect([1, 10, 100].map(pixels(log, 0, 40))).toEqual([0, 20, 40]);
    expect([0, -1, NaN].map(pixels(log, 0, 40))).toEqual([NaN, NaN, NaN]);
  });

  it('zoom around a value, within their limits', () => {
    expect(zoomAround(linear, 0.25, 0.5, { from: 0, to: 40 })).toEqual({ from: 12.5, to: 22.5 });
    expect(zoomAround(linear, 0.5, 10, { from: 0, to: 40 })).toEqual({ from: 0, to: 40 });
  });

  it('pan until they reach an end', () => {
    expect(panBy(linear, 0.25, { from: 0, to: 100 })).toEqual({ from: 15, to: 35 });
    expect(panBy(linear, -3, { from: 0, to: 100 })).toEqual({ from: 0, to: 20 });
    expect(panBy(linear, 9, { from: 0, to: 40 })).toEqual({ from: 20, to: 40 });
  });
});

describe('columns', () => {
  it('are searched only in their filled part', () => {
    const column = Int32Array.of(1, 3, 3, 7, 0, 0);
    expect([0, 3, 4, 9].map((from) => indicesWithin(column, 4, { from, to: 9 })[0])).toEqual([0, 1, 3, 4]);
    expect([0, 3, 9].map((to) => indicesWithin(column, 4, { from: 0, to })[1])).toEqual([0, 3, 4]);
    expect([-5, 2, 5.1, 100].map((value) => nearestIndex(column, 4, value))).toEqual([0, 0, 3, 3]);
    expect(nearestIndex(column, 0, 1)).toBe(-1);
  });
});

describe('histogram', () => {
  it('shares bins among groups, and the last bin includes its upper edge', () => {
    const bins = countInBins(
      [
        [0, 0.4, 1],
        [0.5, NaN, 1],
      ],
      2,
    );
    expect(bins).toEqual({
      range: { from: 0, to: 1 },
      width: 0.5,
      counts: [
        [2, 1],
        [0, 2],
      ],
    });
  });

  it('has all bins even if they are narrower than float precision, and skips non-finite values', () => {
    const { counts } = countInBins([[1, 1 + Number.EPSILON, NaN, Infinity]], 5);
    expect(counts[0]).toHaveLength(5);
    expect(counts[0].reduce((sum, count) => sum + count)).toBe(2);
    expect(countInBins([[], [NaN]], 2)).toMatchObject({
      range: { from: 0, to: 1 },
      counts: [
        [0, 0],
        [0, 0],
      ],
    });
    expect(countInBins([[4, 4]], 2)).toMatchObject({ range: { from: 3.5, to: 4.5 }, counts: [[0, 2]] });
  });
});
