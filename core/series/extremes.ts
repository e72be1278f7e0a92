/** Indices of what a thinned curve keeps of a stretch; -1 for what the stretch does not have. */
interface Extremes {
  /** The smallest value; the first of equals. */
  lowest: number;
  /** The largest value; the first of equals. */
  highest: number;
  /** The first gap. */
  gap: number;
}

/** Values that count, ends included; all others are gaps, as NaN always is. */
export interface Countable {
  from: number;
  to: number;
}

/** All numbers but NaN. */
export const allNumbers: Countable = { from: -Infinity, to: Infinity };
/** What a linear axis can show. */
export const finiteNumbers: Countable = { from: -Number.MAX_VALUE, to: Number.MAX_VALUE };
/** What a logarithmic axis can show. */
export const positiveNumbers: Countable = { from: Number.MIN_VALUE, to: Number.MAX_VALUE };

/** The extremes of `values[start..end)`. A curve that keeps them of every stretch loses no spike and no gap. */
export function extremesOf(
  values: ArrayLike<number>,
  start = 0,
  end = values.length,
  { from, to }: Countable = allNumbers,
): Extremes {
  let [lowest, highest, gap] = [-1, -1, -1];
  // Local variables are faster: this loop runs over millions of points when a reader zooms.
  let [low, high] = [Infinity, -Infinity];
  for (let index = start; index < end; index += 1) {
    const value = values[index];
    if (!(value >= from && value <= to)) {
      if (gap === -1) gap = index;
      continue;
    }
    if (value < low || lowest === -1) {
      lowest = index;
      low = value;
    }
    if (value > high || highest === -1) {
      highest = index;
      high = value;
    }
  }
  return { lowest, highest, gap };
}

/** The smallest and the largest value of some columns; null where no value counts. */
export function rangeOf(columns: Iterable<ArrayLike<number>>, countable = finiteNumbers): Countable | null {
  let [from, to] = [Infinity, -Infinity];
  for (const column of columns) {
    const { lowest, highest } = extremesOf(column, 0, column.length, countable);
    if (lowest === -1) continue;
    from = Math.min(from, column[lowest]);
    to = Math.max(to, column[highest]);
  }
  return from > to ? null : { from, to };
}

/** Takes at most `count` of the first `length` values, spread evenly: always the first and the last. */
export function spread(values: ArrayLike<number>, length: number, count: number): Float64Array {
  const kept = Math.min(count, length);
  if (kept < 2) return Float64Array.from({ length: kept }, () => values[0]);
  return Float64Array.from({ length: kept }, (_, index) => values[Math.round((index * (length - 1)) / (kept - 1))]);
}
