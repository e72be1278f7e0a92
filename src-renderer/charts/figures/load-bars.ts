import { bisectLeft } from 'd3-array';
import type { ChartRange } from '../types.ts';

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
