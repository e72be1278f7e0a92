import { bisectRight, quantileSorted } from 'd3-array';
import { type Countable, finiteNumbers, positiveNumbers, rangeOf } from '../../../core/series/extremes.ts';
import type { PreparedLine } from './series-lines.ts';
import type { ChartAxis, ChartRange, ChartSeries } from '../types.ts';
import { indicesWithin } from './columns.ts';

/** Points of each line, evenly spaced, from which outlier clipping estimates its percentiles. */
const clippingSample = 1000;
/** Smaller spans, relative to the values, come from the rounding of a smoothed constant and would look like noise if magnified. */
const roundingErrors = 1e-12;
/** Room at both ends of the y axis, as a share of its span. */
const room = 0.05;

/**
 * The range of x over all lines and the marks beside them: a rank can be lost before its first point. On a logarithmic axis it
 * starts at the first x above 0. Marks alone make no range, as a chart without points says so.
 */
export function wholeRange(
  series: readonly ChartSeries[],
  axis: ChartAxis,
  isLog: boolean,
  marks: readonly number[] = [],
): ChartRange {
  const ends = series.flatMap(({ x, length }) => {
    const column = x[axis];
    if (column === null || length === 0) return [];
    const first = isLog ? bisectRight(column, 0, 0, length) : 0;
    return first < length ? [column[first], column[length - 1]] : [];
  });
  // A typed array, as everywhere else: the loop over millions of points runs at half its speed once it has seen another kind.
  const shown = ends.length === 0 ? [] : [...ends, ...marks];
  const range = rangeOf([Float64Array.from(shown)], isLog ? positiveNumbers : finiteNumbers);
  if (range === null) return emptyRange(isLog);
  const { from, to } = range;
  if (from < to) return range;
  return isLog ? { from: from / 2, to: from * 2 } : { from: from - 0.5, to: from + 0.5 };
}

export interface ValueRangeOptions {
  isLog: boolean;
  clipsOutliers: boolean;
}

/** The y axis that fits the visible points, with room at both ends. */
export function valueRange(lines: readonly PreparedLine[], window: ChartRange, options: ValueRangeOptions): ChartRange {
  const countable = options.isLog ? positiveNumbers : finiteNumbers;
  const bounds = options.clipsOutliers
    ? clippedRange(lines, window, countable)
    : thinnedRange(lines, window, countable);
  return bounds === null ? emptyRange(options.isLog) : withRoom(bounds, options.isLog);
}

/** The range of the thinned values in the window, which is that of all points there: thinning keeps extremes. */
function thinnedRange(lines: readonly PreparedLine[], window: ChartRange, countable: Countable): ChartRange | null {
  const thinned = lines.flatMap(({ thinned, raw, band }) => [
    thinned,
    ...(raw === null ? [] : [raw]),
    ...(band === null ? [] : [band.lower, band.upper]),
  ]);
  const visible = thinned.map(({ x, y, count }) => y.subarray(...indicesWithin(x, count, window)));
  return rangeOf(visible, countable);
}

/** The 5th to the 95th percentile of the visible points. */
function clippedRange(lines: readonly PreparedLine[], window: ChartRange, countable: Countable): ChartRange | null {
  const sample: number[] = [];
  for (const { series, x, y } of lines) {
    const [start, end] = indicesWithin(x, series.length, window);
    const stride = Math.max(1, Math.ceil((end - start) / clippingSample));
    for (let index = start; index < end; index += stride) {
      if (y[index] >= countable.from && y[index] <= countable.to) sample.push(y[index]);
    }
  }
  const sorted = sample.sort((a, b) => a - b);
  const [from, to] = [quantileSorted(sorted, 0.05), quantileSorted(sorted, 0.95)];
  return from === undefined || to === undefined ? null : { from, to };
}

/** How many visible finite values lie outside the y axis, of the points that the page holds. */
export function countOutside(lines: readonly PreparedLine[], window: ChartRange, shown: ChartRange): number {
  let count = 0;
  for (const { series, x, y } of lines) {
    const [start, end] = indicesWithin(x, series.length, window);
    for (let index = start; index < end; index++) {
      if ((y[index] < shown.from || y[index] > shown.to) && Number.isFinite(y[index])) count += 1;
    }
  }
  return count;
}

function emptyRange(isLog: boolean): ChartRange {
  return isLog ? { from: 1, to: 10 } : { from: 0, to: 1 };
}

function withRoom({ from, to }: ChartRange, isLog: boolean): ChartRange {
  const isFlat = to - from <= roundingErrors * Math.max(Math.abs(from), Math.abs(to));
  if (isLog) {
    const factor = isFlat ? 2 : (to / from) ** room;
    return { from: from / factor, to: to * factor };
  }
  const margin = isFlat ? Math.abs(from) * room || 1 : (to - from) * room;
  return { from: from - margin, to: to + margin };
}
