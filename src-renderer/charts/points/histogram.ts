import type { ChartRange } from '../types.ts';

/** Counts per group over bins of equal width that all groups share; the last bin holds its upper edge too. */
export interface Bins {
  range: ChartRange;
  width: number;
  /** `[groups][bins]`. */
  counts: number[][];
}

/** Sorts values into `binCount` bins between the smallest and the largest finite value; others are left out. */
export function countInBins(groups: readonly ArrayLike<number>[], binCount: number): Bins {
  const range = rangeOf(groups);
  const width = (range.to - range.from) / binCount;
  const counts = groups.map((values) => {
    const count = Array.from({ length: binCount }, () => 0);
    for (let index = 0; index < values.length; index++) {
      if (!Number.isFinite(values[index])) continue;
      count[Math.min(Math.floor((values[index] - range.from) / width), binCount - 1)]++;
    }
    return count;
  });
  return { range, width, counts };
}

function rangeOf(groups: readonly ArrayLike<number>[]): ChartRange {
  let [from, to] = [Infinity, -Infinity];
  for (const values of groups) {
    for (let index = 0; index < values.length; index++) {
      if (!Number.isFinite(values[index])) continue;
      from = Math.min(from, values[index]);
      to = Math.max(to, values[index]);
    }
  }
  if (from > to) return { from: 0, to: 1 };
  return from === to ? { from: from - 0.5, to: to + 0.5 } : { from, to };
}
