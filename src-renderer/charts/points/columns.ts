import { bisectLeft, bisectRight } from 'd3-array';
import type { ChartRange, Column } from '../types.ts';

/** The stretch `[start, end)` of the first `length` elements of an ascending column that lies in a range, ends included. */
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
 * Index of the point that a line has at `value`: the nearest one, or -1 beyond the line's end, by more than the mean distance of its points.
 * So a run that ended early has no value where a longer one goes on.
 */
export function indexAt(column: Column, length: number, value: number): number {
  const index = nearestIndex(column, length, value);
  if (index === -1) return -1;
  const [first, last] = [column[0], column[length - 1]];
  const spacing = length === 1 ? Math.abs(last) : (last - first) / (length - 1);
  return value > last + spacing ? -1 : index;
}

/** Returns `column` if it holds `capacity` elements, else a copy with twice that capacity. */
export function withCapacity(column: Float64Array, capacity: number): Float64Array {
  if (column.length >= capacity) return column;
  const larger = new Float64Array(2 * capacity);
  larger.set(column);
  return larger;
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
