import { bisectRight, range } from 'd3-array';
import { rangeOf } from '../../../core/series/extremes.ts';
import type { ChartRange } from '../types.ts';

/** Counts per group over bins of equal width that all groups share. The last bin includes its upper edge. */
export interface Bins {
  range: ChartRange;
  width: number;
  /** `[groups][bins]`. */
  counts: number[][];
}

/**
 * Counts values in `binCount` bins of a range; other values do not count.
 *
 * @param given the range; by default from the smallest to the largest finite value
 */
export function countInBins(groups: readonly ArrayLike<number>[], binCount: number, given?: ChartRange): Bins {
  const { from, to } = given ?? spanOf(groups);
  const width = (to - from) / binCount;
  const edges = range(1, binCount).map((edge) => from + edge * width);
  const counts = groups.map((values) => {
    const count = Array.from({ length: binCount }, () => 0);
    for (const value of Array.from(values)) if (value >= from && value <= to) count[bisectRight(edges, value)] += 1;
    return count;
  });
  return { range: { from, to }, width, counts };
}

function spanOf(groups: readonly ArrayLike<number>[]): ChartRange {
  const span = rangeOf(groups) ?? { from: 0, to: 1 };
  return span.from === span.to ? { from: span.from - 0.5, to: span.to + 0.5 } : span;
}
