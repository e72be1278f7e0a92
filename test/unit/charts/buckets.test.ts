import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bucketGrid, canGrow, ThinnedLine } from '../../../src-renderer/charts/buckets.ts';

type Point = [x: number, y: number];

function thin(
  ys: readonly number[],
  window = { from: 0, to: ys.length - 1 },
  maximum = 4,
  xs = ys.map((_, i) => i),
): Point[] {
  const grid = bucketGrid(window, false, maximum);
  const line = new ThinnedLine(grid);
  line.extend(Float64Array.from(xs), Float64Array.from(ys), ys.length, grid);
  return pointsOf(line);
}

function pointsOf(line: ThinnedLine): Point[] {
  return Array.from({ length: line.count }, (_, index) => [line.x[index], line.y[index]]);
}

const value = fc.oneof({ weight: 8, arbitrary: fc.double({ noNaN: true, min: -1e6, max: 1e6 }) }, fc.constant(NaN));

describe('bucketGrid', () => {
  it('takes the smallest power of two that gives no more buckets than requested', () => {
    expect(bucketGrid({ from: 0, to: 1000 }, false, 100).width).toBe(16);
    expect(bucketGrid({ from: 0, to: 800 }, false, 100).width).toBe(8);
    expect(bucketGrid({ from: 1, to: 10_000 }, true, 16).width).toBe(0.25);
  });

  it('lets a line grow while its window extends and the width stays the same', () => {
    const grid = bucketGrid({ from: 0, to: 900 }, false, 100);
    expect(canGrow(grid, bucketGrid({ from: 0, to: 1600 }, false, 100))).toBe(true);
    expect(canGrow(grid, bucketGrid({ from: 0, to: 1601 }, false, 100))).toBe(false);
    expect(canGrow(grid, bucketGrid({ from: 10, to: 1600 }, false, 100))).toBe(false);
    expect(canGrow(grid, bucketGrid({ from: 0, to: 800 + 99 }, false, 100))).toBe(false);
  });
});

describe('ThinnedLine', () => {
  it('keeps the smallest and largest value of each bucket, in order', () => {
    // Width 2: (0 | 1), (2 | 3), (4 | 5), (6 | 7).
    expect(thin([5, 1, 2, 9, 4, 4, 7, 3], { from: 0, to: 7 }, 4)).toEqual([
      [0, 5],
      [1, 1],
      [2, 2],
      [3, 9],
      [4, 4],
      [6, 7],
      [7, 3],
    ]);
  });

  it('drops points between the extremes', () => {
    expect(thin([5, 1, 9, 2, 3, 3, 3, 3], { from: 0, to: 7 }, 2)).toEqual([
      [1, 1],
      [2, 9],
      [4, 3],
    ]);
  });

  it('is the line itself if there is room for each point', () => {
    const ys = [3, 1, NaN, 2];
    expect(thin(ys, { from: 0, to: 3 }, 100)).toEqual([
      [0, 3],
      [1, 1],
      [2, NaN],
      [3, 2],
    ]);
  });

  it('shows a window and one point on each side of it', () => {
    expect(thin([0, 10, 20, 30, 40, 50], { from: 1.5, to: 3.5 }, 100)).toEqual([
      [1, 10],
      [2, 20],
      [3, 30],
      [4, 40],
    ]);
  });

  it('treats infinity as a gap, like NaN', () => {
    expect(thin([1, Infinity, 2], { from: 0, to: 2 }, 100).map(([, y]) => y)).toEqual([1, NaN, 2]);
  });

  it('buckets logarithms of x evenly', () => {
    const xs = [0, 1, 2, 3, 10, 20, 100];
    const grid = bucketGrid({ from: 1, to: 100 }, true, 2);
    const line = new ThinnedLine(grid);
    line.extend(Float64Array.from(xs), Float64Array.from([9, 1, 5, 3, 4, 8, 6]), xs.length, grid);
    expect(pointsOf(line)).toEqual([
      [0, 9],
      [1, 1],
      [2, 5],
      [10, 4],
      [20, 8],
      [100, 6],
    ]);
  });

  it('never loses a spike: it keeps the extremes of all points', () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 400 }), fc.integer({ min: 1, max: 50 }), (ys, maximum) => {
        const kept = thin(ys, { from: 0, to: Math.max(1, ys.length - 1) }, maximum);
        const finite = ys.filter(Number.isFinite);
        const keptFinite = kept.map(([, y]) => y).filter(Number.isFinite);
        expect(Math.min(...keptFinite)).toBe(Math.min(...finite));
        expect(Math.max(...keptFinite)).toBe(Math.max(...finite));
        expect(kept.some(([, y]) => Number.isNaN(y))).toBe(ys.some(Number.isNaN));
        expect(kept.length).toBeLessThanOrEqual(3 * (maximum + 1));
      }),
    );
  });

  it('gives the same result whether points are appended at once or in parts', () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 2, maxLength: 300 }), fc.integer({ min: 1, max: 299 }), (ys, cut) => {
        const [x, y] = [Float64Array.from(ys, (_, index) => index), Float64Array.from(ys)];
        const part = Math.min(cut, ys.length);
        const grown = { width: 8, isLog: false, window: { from: 0, to: ys.length - 1 } };
        const line = new ThinnedLine({ ...grown, window: { from: 0, to: part - 1 } });
        line.extend(x, y, part, line.grid);
        line.extend(x, y, ys.length, grown);
        const whole = new ThinnedLine(grown);
        whole.extend(x, y, ys.length, grown);
        expect(pointsOf(line)).toEqual(pointsOf(whole));
      }),
    );
  });
});
