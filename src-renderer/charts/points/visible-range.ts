import { lowerBound, upperBound } from './columns.ts';
import { percentiles } from './percentiles.ts';
import type { PreparedLine } from '../series/series-lines.ts';
import type { ChartAxis, ChartRange, ChartSeries } from '../types.ts';

/** Points of each line that outlier clipping looks at, evenly spaced: enough for two percentiles. */
const clippingSample = 1000;
/** Smaller spans, relative to the values, are how smoothing rounds a constant: magnified they would look like noise. */
const roundingErrors = 1e-12;

/** All of x: from the first to the last point of any line; with logarithms from the first that is above 0. */
export function wholeRange(series: readonly ChartSeries[], axis: ChartAxis, isLog: boolean): ChartRange {
  let [from, to] = [Infinity, -Infinity];
  for (const { x, length } of series) {
    const column = x[axis];
    if (column === null || length === 0) continue;
    const first = isLog ? upperBound(column, length, 0) : 0;
    if (first < length) from = Math.min(from, column[first]);
    to = Math.max(to, column[length - 1]);
  }
  if (from > to) return isLog ? { from: 1, to: 10 } : { from: 0, to: 1 };
  if (from < to) return { from, to };
  return isLog ? { from: from / 2, to: from * 2 } : { from: from - 0.5, to: from + 0.5 };
}

/** The y axis that shows what is visible, with room at both ends. */
export function valueRange(lines: readonly PreparedLine[], window: ChartRange, how: ValueRangeOptions): ChartRange {
  const bounds = how.clipsOutliers ? clippedBounds(lines, window, how.isLog) : extremes(lines, window, how.isLog);
  return withRoomAround(bounds, how.isLog);
}

export interface ValueRangeOptions {
  isLog: boolean;
  clipsOutliers: boolean;
}

/** Smallest and largest thinned value in the window, which are those of all points there. */
function extremes(lines: readonly PreparedLine[], window: ChartRange, isLog: boolean): ChartRange {
  let [from, to] = [Infinity, -Infinity];
  for (const { thinned, band } of lines) {
    for (const { x, y, count } of band === null ? [thinned] : [thinned, band.lower, band.upper]) {
      for (let index = 0; index < count; index++) {
        if (x[index] < window.from || x[index] > window.to || (isLog && !(y[index] > 0))) continue;
        if (y[index] < from) from = y[index];
        if (y[index] > to) to = y[index];
      }
    }
  }
  return { from, to };
}

/** The 5th and the 95th percentile of what is visible. */
function clippedBounds(lines: readonly PreparedLine[], window: ChartRange, isLog: boolean): ChartRange {
  const sample: number[] = [];
  for (const { series, x, y } of lines) {
    const [start, end] = [lowerBound(x, series.length, window.from), upperBound(x, series.length, window.to)];
    const stride = Math.max(1, Math.ceil((end - start) / clippingSample));
    for (let index = start; index < end; index += stride) if (!isLog || y[index] > 0) sample.push(y[index]);
  }
  const [from, to] = percentiles(Float64Array.from(sample), [0.05, 0.95]);
  return { from, to };
}

/** Finite values in the window that a y axis does not reach, of the points that the page holds. */
export function countOutside(lines: readonly PreparedLine[], window: ChartRange, shown: ChartRange): number {
  let count = 0;
  for (const { series, x, y } of lines) {
    const end = upperBound(x, series.length, window.to);
    for (let index = lowerBound(x, series.length, window.from); index < end; index++) {
      if ((y[index] < shown.from || y[index] > shown.to) && Number.isFinite(y[index])) count += 1;
    }
  }
  return count;
}

function withRoomAround({ from, to }: ChartRange, isLog: boolean): ChartRange {
  if (!(from <= to)) return isLog ? { from: 1, to: 10 } : { from: 0, to: 1 };
  const isFlat = to - from <= roundingErrors * Math.max(Math.abs(from), Math.abs(to));
  if (isLog) {
    const factor = isFlat ? 2 : (to / from) ** 0.05;
    return { from: from / factor, to: to * factor };
  }
  const room = isFlat ? Math.abs(from) * 0.05 || 1 : (to - from) * 0.05;
  return { from: from - room, to: to + room };
}
