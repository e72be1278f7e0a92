import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { thin as keep } from '../../../../src-main/rpc/runs/series.ts';

/** The points that thinning keeps. */
function thin(x: Float64Array, y: Float64Array, buckets: number) {
  const kept = keep(x, y, buckets);
  return { x: Float64Array.from(kept, (index) => x[index]), y: Float64Array.from(kept, (index) => y[index]) };
}

const ramp = (length: number) => Float64Array.from({ length }, (_, index) => index);

describe('thin', () => {
  it('keeps a spike of one point among 100,000, up or down', () => {
    const x = ramp(100_000);
    const y = new Float64Array(x.length).fill(1);
    y[43_217] = 1e9;
    y[81_001] = -1e9;
    const thinned = thin(x, y, 200);
    expect(thinned.x.length).toBeLessThanOrEqual(402);
    expect(thinned.y[thinned.x.indexOf(43_217)]).toBe(1e9);
    expect(thinned.y[thinned.x.indexOf(81_001)]).toBe(-1e9);
  });

  it('keeps the extremes of each bucket, and both ends', () => {
    const x = ramp(12);
    const y = Float64Array.of(5, 9, 1, 5, 5, 5, 2, 3, 4, 8, 7, 7.5);
    // Buckets of width 11 / 2: x in [0, 5.5) and [5.5, 11].
    const thinned = thin(x, y, 2);
    expect(thinned.x).toEqual(Float64Array.of(0, 1, 2, 6, 9, 11));
    expect(thinned.y).toEqual(Float64Array.of(5, 9, 1, 2, 8, 7.5));
  });

  it('divides x, not the points: a dense stretch does not starve a sparse one', () => {
    const x = Float64Array.of(...Array.from({ length: 100 }, (_, index) => index / 100), 50, 51, 100);
    const y = Float64Array.from(x, (value) => (value === 51 ? 7 : 0));
    expect(thin(x, y, 10).x).toEqual(Float64Array.of(0, 50, 51, 100));
  });

  it('has buckets of equal width even where the last point lies far from the others', () => {
    // Of width 50: [0, 50) has 0, 10, 20, 30, 40, and [50, 100] has the rest.
    const x = Float64Array.of(0, 10, 20, 30, 40, 55, 60, 100);
    const y = Float64Array.of(0, 2, 3, -1, 0, 0, 4, 0);
    expect(thin(x, y, 2).x).toEqual(Float64Array.of(0, 20, 30, 55, 60, 100));
  });

  it('keeps a gap in its place', () => {
    const x = ramp(100);
    const y = Float64Array.from(x, (value) => (value >= 40 && value < 60 ? Number.NaN : value));
    const thinned = thin(x, y, 10);
    const gap = thinned.x.filter((_, index) => Number.isNaN(thinned.y[index]));
    expect(gap.length).toBeGreaterThan(0);
    expect(Math.min(...gap)).toBeGreaterThanOrEqual(40);
    expect(Math.max(...gap)).toBeLessThan(60);
  });

  it('keeps infinities', () => {
    const y = new Float64Array(100);
    y[30] = Infinity;
    y[70] = -Infinity;
    expect(thin(ramp(100), y, 5).y).toContain(Infinity);
    expect(thin(ramp(100), y, 5).y).toContain(-Infinity);
  });

  it('returns few points unchanged, and puts a single x in one bucket', () => {
    const x = ramp(4);
    expect(thin(x, x, 2)).toEqual({ x, y: x });
    expect(thin(new Float64Array(5), ramp(5), 2).y).toEqual(Float64Array.of(0, 4));
    expect(thin(new Float64Array(0), new Float64Array(0), 2).x).toHaveLength(0);
  });

  it('refuses unequal lengths and zero buckets', () => {
    expect(() => thin(ramp(3), ramp(2), 1)).toThrow(RangeError);
    expect(() => thin(ramp(3), ramp(3), 0)).toThrow(RangeError);
  });

  it('returns points of the curve in order, including its extremes', () => {
    const curve = fc.array(
      fc.tuple(fc.double({ noNaN: true, noDefaultInfinity: true, min: 0, max: 1e6 }), fc.double()),
      {
        minLength: 1,
        maxLength: 300,
      },
    );
    fc.assert(
      fc.property(curve, fc.integer({ min: 1, max: 20 }), (points, buckets) => {
        const sorted = points.toSorted(([a], [b]) => a - b);
        const y = Float64Array.from(sorted, ([, value]) => value);
        const thinned = thin(
          Float64Array.from(sorted, ([value]) => value),
          y,
          buckets,
        );
        expect(thinned.x.length).toBeLessThanOrEqual(Math.max(2 * buckets, 3 * buckets + 2));
        expect(thinned.x).toEqual(thinned.x.toSorted());
        const finite = y.filter((value) => !Number.isNaN(value));
        const kept = thinned.y.filter((value) => !Number.isNaN(value));
        expect([Math.min(...kept), Math.max(...kept)]).toEqual([Math.min(...finite), Math.max(...finite)]);
      }),
    );
  });
});
