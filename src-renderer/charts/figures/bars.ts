import { bisectLeft, bisectRight, range } from 'd3-array';
import type { ChartRange } from '../types.ts';
import { rangeOf } from '../../../core/series/extremes.ts';

/** A stretch of time and the mean load in it. */
export interface LoadBar extends ChartRange {
  load: number;
}

/**
 * Loads as bars. Each load is the mean since the time of the element before, so its bar starts there. With more than
 * `maximumBars` in the range, neighbours are merged into their mean over time, but not across a NaN, which has no bar.
 */
export function loadBars(time: Float64Array, load: Float64Array, range: ChartRange, maximumBars: number): LoadBar[] {
  const start = Math.max(1, bisectLeft(time, range.from));
  const end = Math.min(time.length, bisectLeft(time, range.to) + 1);
  const perBar = Math.max(1, Math.ceil((end - start) / maximumBars));
  const bars: LoadBar[] = [];
  let merged = 0;
  for (let index = start; index < end; index++) {
    if (Number.isNaN(load[index])) {
      merged = 0;
      continue;
    }
    const bar = { from: time[index - 1], to: time[index], load: load[index] };
    const last = bars.at(-1);
    if (last === undefined || merged === 0 || merged === perBar) {
      bars.push(bar);
      merged = 1;
    } else {
      bars[bars.length - 1] = joined(last, bar);
      merged += 1;
    }
  }
  return bars;
}

function joined(left: LoadBar, right: LoadBar): LoadBar {
  const busy = left.load * (left.to - left.from) + right.load * (right.to - right.from);
  return { from: left.from, to: right.to, load: busy / (right.to - left.from) };
}

/** Counts per group over bins of equal width that all groups share. The last bin includes its upper edge. */
interface Bins {
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
