import { formatMetric, unknownText } from '../text/numbers.ts';

/** A mean with the uncertainty that the number of values leaves. */
export interface Estimate {
  /** NaN without values. */
  mean: number;
  /** The standard error of the mean: s / √n with s² = Σ (xᵢ − x̄)² / (n − 1). NaN for fewer than two values. */
  standardError: number;
  /** Number of values. */
  count: number;
}

/**
 * The mean of values that were drawn independently, such as the results of runs that differ in their seeds, and its
 * standard error s / √n, where s² = Σ (xᵢ − x̄)² / (n − 1) is the unbiased variance. Both have the unit of the values.
 * A NaN makes both NaN.
 *
 * Source: Altman and Bland, "Standard deviations and standard errors", BMJ 331:903, 2005.
 */
export function estimate(values: readonly number[]): Estimate {
  const count = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, standardError: count < 2 ? NaN : Math.sqrt(squares / (count - 1) / count), count };
}

/**
 * The 97.5 % quantiles of Student's t distribution with 1 to 30 degrees of freedom. Source:
 * `scipy.stats.t.ppf(0.975, df)`.
 */
const studentQuantiles = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/**
 * Whether a mean differs from 0 by more than chance explains: its 95 % interval, mean ± t · s / √n with Student's t for
 * n − 1 degrees of freedom, does not hold 0. False for fewer than two values, and where one is not finite.
 *
 * Source: Student, "The probable error of a mean", Biometrika 6:1, 1908.
 */
export function isBeyondNoise({ mean, standardError, count }: Estimate): boolean {
  const quantile = studentQuantiles[Math.min(count - 1, studentQuantiles.length) - 1];
  return Number.isFinite(mean) && Math.abs(mean) > quantile * standardError;
}

/** Equal values may seem to differ by some units in the last place, as a share of their mean. */
const rounding = 1e-14;

/**
 * `0.5150 ± 0.0066`: the standard error with two significant digits, and the mean to the same decimals, because further
 * ones mean nothing. A single value has no error, and `–` stands for no values.
 */
export function formatEstimate({ mean, standardError, count }: Estimate): string {
  if (count === 0) return unknownText;
  if (count < 2 || !Number.isFinite(mean) || !Number.isFinite(standardError)) return formatMetric(mean);
  if (standardError <= rounding * Math.abs(mean)) return `${formatMetric(mean)} ± 0`;
  const rounded = Number(standardError.toPrecision(2));
  const decimals = 1 - Math.floor(Math.log10(rounded));
  // Very small and very large numbers have exponents, as other metrics do.
  if (decimals > 8 || decimals < -3) return `${formatMetric(mean)} ± ${standardError.toPrecision(2)}`;
  return `${mean.toFixed(Math.max(decimals, 0))} ± ${rounded.toFixed(Math.max(decimals, 0))}`;
}
