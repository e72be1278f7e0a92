/** At most `count` of the first `length` values, spread evenly over them: always the first and the last. */
export function spread(values: ArrayLike<number>, length: number, count: number): Float64Array {
  const kept = Math.min(count, length);
  if (kept < 2) return Float64Array.from({ length: kept }, () => values[0]);
  return Float64Array.from({ length: kept }, (_, index) => values[Math.round((index * (length - 1)) / (kept - 1))]);
}
