import { extremesOf } from '../../../core/series/extremes.ts';

/**
 * Thins a curve for a view: cuts x into buckets of equal width and keeps the smallest y, the largest y and the first
 * NaN of each, so that no spike and no gap is lost. Always keeps the first and the last point.
 * @param x ascending, shape [P]
 * @param y may hold NaN and infinities, shape [P]
 * @param buckets about one per pixel column of the view
 * @returns ascending indices of the points to keep: at most `3 buckets + 2`, or all of up to `2 buckets` points
 */
export function thin(x: Float64Array | Int32Array, y: Float64Array, buckets: number): Int32Array {
  if (x.length !== y.length || !Number.isInteger(buckets) || buckets < 1) {
    throw new RangeError(
      `Cannot thin ${x.length} x and ${y.length} y into ${buckets} buckets: equal lengths and at least 1.`,
    );
  }
  if (x.length <= 2 * buckets) return Int32Array.from(x.keys());
  const bucketOf = bucketer(x, buckets);
  const kept = [0];
  for (let start = 0; start < x.length;) {
    let end = start + 1;
    while (end < x.length && bucketOf(x[end]) === bucketOf(x[start])) end += 1;
    const { lowest, highest, gap } = extremesOf(y, start, end);
    kept.push(...[lowest, highest, gap].filter((index) => index >= 0).sort((a, b) => a - b));
    start = end;
  }
  kept.push(x.length - 1);
  return Int32Array.from(new Set(kept));
}

function bucketer(x: Float64Array | Int32Array, buckets: number): (value: number) => number {
  const first = x[0];
  const width = (x[x.length - 1] - first) / buckets;
  return width > 0 ? (value) => Math.min(Math.floor((value - first) / width), buckets - 1) : () => 0;
}
