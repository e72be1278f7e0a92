import { bisectLeft, bisectRight } from 'd3-array';
import type { ChartRange, Column } from './types.ts';
import type { Scale } from './scene/axes.ts';

/**
 * The stretch `[start, end)` of the first `length` elements of an ascending column that lies in a range, ends included.
 */
export function indicesWithin(column: Column, length: number, { from, to }: ChartRange): [start: number, end: number] {
  return [bisectLeft(column, from, 0, length), bisectRight(column, to, 0, length)];
}

/** Index of the element nearest to `value`; the earlier of two equally near, -1 in an empty column. */
export function nearestIndex(column: Column, length: number, value: number): number {
  const after = bisectLeft(column, value, 0, length);
  if (after === 0) return length === 0 ? -1 : 0;
  if (after === length) return length - 1;
  return value - column[after - 1] <= column[after] - value ? after - 1 : after;
}

/**
 * Index of the point that a line has at `value`: the nearest one, or -1 beyond the line's end, by more than the mean
 * distance of its points. So a run that ended early has no value where a longer one goes on.
 */
export function indexAt(column: Column, length: number, value: number): number {
  const index = nearestIndex(column, length, value);
  if (index === -1) return -1;
  const [first, last] = [column[0], column[length - 1]];
  const spacing = length === 1 ? Math.abs(last) : (last - first) / (length - 1);
  return value > last + spacing ? -1 : index;
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

/** The share of the range that stays free on either side, so that no point lies on an axis. */
const room = 0.03;

/**
 * The scale that shows all finite values with some room around them; from 0 to 1 (1 to 10 for a logarithm) without any.
 * A logarithmic scale leaves values that are not above 0 out.
 */
export function scaleAround(columns: Iterable<Iterable<number>>, isLog = false): Scale {
  let [low, high] = [Infinity, -Infinity];
  for (const column of columns) {
    for (const value of column) {
      if (!Number.isFinite(value) || (isLog && value <= 0)) continue;
      [low, high] = [Math.min(low, value), Math.max(high, value)];
    }
  }
  if (low > high) return isLog ? { from: 1, to: 10, isLog } : { from: 0, to: 1, isLog };
  return widened({ from: low, to: high, isLog });
}

/** The scale with some room on both sides. */
export function widened({ from, to, isLog }: Scale): Scale {
  if (isLog) {
    const factor = (to / from) ** room;
    return factor === 1 ? { from: from / 2, to: to * 2, isLog } : { from: from / factor, to: to * factor, isLog };
  }
  const margin = (to - from || Math.abs(to) || 1) * room;
  return { from: from - margin, to: to + margin, isLog };
}
