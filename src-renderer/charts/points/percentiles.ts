/**
 * The values below which the given shares of all finite values lie, by linear interpolation between the two nearest
 * (method 7 of Hyndman and Fan 1996, NumPy's default). NaN where no value is finite.
 *
 * @param shares 0 to 1
 */
export function percentiles(values: Float64Array, shares: readonly number[]): number[] {
  const sorted = values.filter(Number.isFinite).sort();
  return shares.map((share) => {
    const position = share * (sorted.length - 1);
    const below = Math.floor(position);
    const above = Math.min(below + 1, sorted.length - 1);
    return sorted.length === 0 ? NaN : sorted[below] + (position - below) * (sorted[above] - sorted[below]);
  });
}
