import type { MetricMode } from '../../../../../core/metrics/metric-mode.ts';
import type { Estimate } from '../../../../../core/numeric/estimate.ts';

/** How a result stands to that of the baseline. `unclear`: the difference is less than two of its standard errors. */
export type Verdict = 'better' | 'worse' | 'equal' | 'unclear';

export interface Delta {
  /** Result − baseline. */
  difference: number;
  /** Null if neither direction is better. */
  verdict: Verdict | null;
}

/** Standard errors by which a difference must exceed 0 to count. */
const leastErrors = 2;

/**
 * The difference from the baseline, d = x̄ − x̄₀, with the standard error √(s² / n + s₀² / n₀) of independent means. A single run has no known error, which then
 * counts as 0. Null where a value is missing or not finite.
 */
export function deltaFrom(baseline: Estimate, result: Estimate, mode: MetricMode | null): Delta | null {
  const difference = result.mean - baseline.mean;
  if (!Number.isFinite(difference)) return null;
  const errors = [baseline, result].map(({ standardError }) => standardError).filter((error) => Number.isFinite(error));
  const error = Math.hypot(...errors);
  return { difference, verdict: verdictOf(difference, error, mode) };
}

/** @param error of the difference; NaN if it is unknown */
export function verdictOf(difference: number, error: number, mode: MetricMode | null): Verdict | null {
  if (mode === null) return null;
  if (difference === 0) return 'equal';
  if (Math.abs(difference) < leastErrors * error) return 'unclear';
  return difference < 0 === (mode === 'min') ? 'better' : 'worse';
}

/** `+0.0123`, `−1.5e-6`: three significant digits and always a sign, except of 0. */
export function formatDelta(difference: number): string {
  if (difference === 0) return '0';
  const size = Math.abs(difference);
  const text = size < 1e-4 || size >= 1e6 ? size.toExponential(2).replace('e+', 'e') : size.toPrecision(3);
  return `${difference < 0 ? '−' : '+'}${text}`;
}

/** The place of the best of several values; null if there is none, or all are equal. Values that are not finite do not count. */
export function placeOfBest(results: readonly Estimate[], mode: MetricMode | null): number | null {
  const values = results.map(({ mean }) => mean);
  const finite = values.filter((value) => Number.isFinite(value));
  if (mode === null || new Set(finite).size < 2) return null;
  return values.indexOf(mode === 'min' ? Math.min(...finite) : Math.max(...finite));
}
