import type { BucketGrid, ThinnedLine } from './buckets.ts';

type Points = Pick<ThinnedLine, 'x' | 'y' | 'count'>;

/** The smallest and the largest value of several lines along x. */
export interface Envelope {
  lower: Points;
  upper: Points;
}

/**
 * The band between the smallest and the largest of several lines, bucket by bucket of the grid that thinned them. As
 * thinned lines keep the extremes of each bucket, it covers all their points. Values that are not finite do not count.
 */
export function envelopeOf(lines: readonly Points[], grid: BucketGrid): Envelope {
  const buckets = new Map<number, { x: number; low: number; high: number }>();
  for (const { x, y, count } of lines) {
    for (let index = 0; index < count; index++) {
      if (Number.isFinite(y[index])) widen(buckets, bucketOf(x[index], grid), x[index], y[index]);
    }
  }
  const ordered = [...buckets].sort(([a], [b]) => a - b).map(([, bucket]) => bucket);
  const x = Float64Array.from(ordered, (bucket) => bucket.x);
  const count = ordered.length;
  return {
    lower: { x, y: Float64Array.from(ordered, ({ low }) => low), count },
    upper: { x, y: Float64Array.from(ordered, ({ high }) => high), count },
  };
}

function bucketOf(x: number, { width, isLog }: BucketGrid): number {
  return Math.floor((isLog ? Math.log10(Math.max(0, x)) : x) / width);
}

function widen(
  buckets: Map<number, { x: number; low: number; high: number }>,
  key: number,
  x: number,
  value: number,
): void {
  const bucket = buckets.get(key);
  if (bucket === undefined) buckets.set(key, { x, low: value, high: value });
  else {
    bucket.low = Math.min(bucket.low, value);
    bucket.high = Math.max(bucket.high, value);
  }
}
