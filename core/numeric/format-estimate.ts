import type { Estimate } from './estimate.ts';
import { formatMetric, unknownText } from '../text/numbers.ts';

/** Equal values may seem to differ by some units in the last place, as a share of their mean. */
const rounding = 1e-14;

/**
 * `0.5150 ± 0.0066`: the standard error with two significant digits, and the mean to the same decimals, because further ones mean nothing. A single value has no
 * error, and `–` stands for no values.
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
