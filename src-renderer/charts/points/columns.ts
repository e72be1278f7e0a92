import type { Column } from '../types.ts';

/** The first of the first `length` elements of an ascending column that is at least `value`; `length` where none is. */
export function lowerBound(column: Column, length: number, value: number): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (column[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first of the first `length` elements of an ascending column that is above `value`; `length` where none is. */
export function upperBound(column: Column, length: number, value: number): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (column[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the element nearest to `value`, the earlier of two that are as near; -1 for an empty column. */
export function nearestIndex(column: Column, length: number, value: number): number {
  const after = lowerBound(column, length, value);
  if (after === 0) return length === 0 ? -1 : 0;
  if (after === length) return length - 1;
  return value - column[after - 1] <= column[after] - value ? after - 1 : after;
}

/** `column` if it holds `capacity` elements, else a copy that has room for twice as many. */
export function withRoom(column: Float64Array, capacity: number): Float64Array {
  if (column.length >= capacity) return column;
  const larger = new Float64Array(2 * capacity);
  larger.set(column);
  return larger;
}
