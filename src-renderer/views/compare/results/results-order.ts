import type { Estimate } from '../../../../core/numeric/estimate.ts';
import type { MetricMode } from '../../../../core/metrics/metric-mode.ts';

/** The column by which results are sorted. */
export interface Order {
  id: string;
  isDescending: boolean;
}

/** `-best val/ens_acc` in an address; null for none. */
export function readOrder(text: string): Order | null {
  if (text === '') return null;
  return text.startsWith('-') ? { id: text.slice(1), isDescending: true } : { id: text, isDescending: false };
}

export function writeOrder(order: Order | null): string {
  return order === null ? '' : `${order.isDescending ? '-' : ''}${order.id}`;
}

/** The order after a press on a column: the better values first, then the other way round, then unsorted. */
export function turned(order: Order | null, id: string, isDescendingFirst: boolean): Order | null {
  if (order?.id !== id) return { id, isDescending: isDescendingFirst };
  return order.isDescending === isDescendingFirst ? { id, isDescending: !isDescendingFirst } : null;
}

/**
 * The places in the order of their values. Equal values stay in their order, and those that are not finite are last.
 */
export function sortPlaces(count: number, values: readonly Estimate[] | undefined, order: Order | null): number[] {
  const places = Array.from({ length: count }, (_, place) => place);
  if (order === null || values === undefined) return places;
  const keyOf = (place: number): number => {
    const { mean } = values[place];
    if (!Number.isFinite(mean)) return Infinity;
    return order.isDescending ? -mean : mean;
  };
  return places.toSorted((left, right) => {
    const [one, other] = [keyOf(left), keyOf(right)];
    return one === other ? left - right : one - other;
  });
}

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
 * The difference from the baseline, d = x̄ − x̄₀, with the standard error √(s² / n + s₀² / n₀) of independent means. A
 * single run has no known error, which then counts as 0. Null where a value is missing or not finite.
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

/**
 * The place of the best of several values; null if there is none, or all are equal. Values that are not finite do not
 * count.
 */
export function placeOfBest(results: readonly Estimate[], mode: MetricMode | null): number | null {
  const values = results.map(({ mean }) => mean);
  const finite = values.filter((value) => Number.isFinite(value));
  if (mode === null || new Set(finite).size < 2) return null;
  return values.indexOf(mode === 'min' ? Math.min(...finite) : Math.max(...finite));
}
