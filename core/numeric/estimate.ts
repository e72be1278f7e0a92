/** A mean with the uncertainty that the number of values leaves. */
export interface Estimate {
  /** NaN without values. */
  mean: number;
  /** Of the mean: s / √n with s² = Σ (xᵢ − x̄)² / (n − 1). NaN for fewer than two values. */
  standardError: number;
  /** Number of values. */
  count: number;
}

/**
 * The mean of values that were drawn independently, such as the results of runs that differ in their seeds, and its standard error
 * s / √n, where s² = Σ (xᵢ − x̄)² / (n − 1) is the unbiased variance. Both have the unit of the values. A NaN makes both NaN.
 *
 * Source: Altman and Bland, "Standard deviations and standard errors", BMJ 331:903, 2005.
 */
export function estimate(values: readonly number[]): Estimate {
  const count = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, standardError: count < 2 ? NaN : Math.sqrt(squares / (count - 1) / count), count };
}
