/** Indices of what a thinned curve keeps of a stretch; -1 for what the stretch does not have. */
export interface Extremes {
  /** The smallest value; the first of equals. */
  lowest: number;
  /** The largest value; the first of equals. */
  highest: number;
  /** The first gap. */
  gap: number;
}

/**
 * The extremes of `values[start..end)`. A curve that keeps them of every stretch loses no spike and no gap.
 * @param isGap which values interrupt the curve instead of counting as extremes: NaN by default. It must hold for NaN, and
 *   may hold for infinities, which a chart cannot draw.
 */
export function extremesOf(
  values: ArrayLike<number>,
  start = 0,
  end = values.length,
  isGap: (value: number) => boolean = Number.isNaN,
): Extremes {
  let [lowest, highest, gap] = [-1, -1, -1];
  for (let index = start; index < end; index += 1) {
    const value = values[index];
    if (isGap(value)) gap = gap === -1 ? index : gap;
    else if (lowest === -1) lowest = highest = index;
    else if (value < values[lowest]) lowest = index;
    else if (value > values[highest]) highest = index;
  }
  return { lowest, highest, gap };
}

/** Whether a linear axis cannot show a value: NaN and the infinities. */
export function isNotFinite(value: number): boolean {
  return !Number.isFinite(value);
}

/** Whether a logarithmic axis cannot show a value: also zero and everything below. */
export function isNotPositive(value: number): boolean {
  return !(value > 0 && value < Infinity);
}

/** The smallest and the largest value of some columns; null where no value counts. @param isGap as for {@link extremesOf} */
export function rangeOf(
  columns: Iterable<ArrayLike<number>>,
  isGap: (value: number) => boolean = isNotFinite,
): { from: number; to: number } | null {
  let [from, to] = [Infinity, -Infinity];
  for (const column of columns) {
    const { lowest, highest } = extremesOf(column, 0, column.length, isGap);
    if (lowest === -1) continue;
    from = Math.min(from, column[lowest]);
    to = Math.max(to, column[highest]);
  }
  return from > to ? null : { from, to };
}
