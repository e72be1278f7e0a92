/**
 * Thins a curve for a view: x is cut into buckets of equal width, and of each are kept its smallest and its largest y (so
 * that no spike is lost) and its first NaN (so that a gap stays one). The first and the last point are always kept.
 * @param x ascending, shape [P]
 * @param y may hold NaN and infinities, shape [P]
 * @param buckets about one per pixel column of the view
 * @returns indices of the points to keep, ascending: at most `3 buckets + 2`, or all where there are no more than `2 buckets`
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
    const { lowest, highest, gap } = extremes(y, start, end);
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

/** Indices of the smallest, the largest and the first NaN of `y[start..end)`; -1 where there is none. */
export function extremes(
  y: Float64Array,
  start: number,
  end: number,
): { lowest: number; highest: number; gap: number } {
  let lowest = -1;
  let highest = -1;
  let gap = -1;
  for (let index = start; index < end; index += 1) {
    const value = y[index];
    if (Number.isNaN(value)) gap = gap < 0 ? index : gap;
    else {
      if (lowest < 0 || value < y[lowest]) lowest = index;
      if (highest < 0 || value > y[highest]) highest = index;
    }
  }
  return { lowest, highest, gap };
}
