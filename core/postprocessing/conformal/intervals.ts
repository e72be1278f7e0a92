import type { ConformalIntervals } from '../schema.ts';

/** Lower and upper ends, shape `[N, T]` each. */
export interface Intervals {
  lower: Float64Array;
  upper: Float64Array;
}

/** What intervals are made of; T targets of a sample follow each other. */
export interface IntervalCentres {
  /** Shape `[N, T]`; with `cqr` the lower and the upper quantile. */
  lower: Float64Array;
  upper: Float64Array;
  /** Standard deviations, shape `[N, T]`; null where none are known. */
  deviations: Float64Array | null;
}

/**
 * Nonconformity of targets, shape `[N, T]`: how far a target lies outside [lower, upper], negative inside; divided by
 * the standard deviation with `sigma-scaled`. With `split` and `sigma-scaled` both ends are the mean, so it is |y −
 * mean|.
 *
 * Sources: Lei et al., "Distribution-free predictive inference for regression", JASA 2018 (`split`, and section 5.2 for
 * `sigma-scaled`); Romano, Patterson and Candès, "Conformalized quantile regression", NeurIPS 2019 (`cqr`).
 */
export function targetScores(
  method: ConformalIntervals['method'],
  { lower, upper, deviations }: IntervalCentres,
  targets: ArrayLike<number>,
): Float64Array {
  return lower.map((low, index) => {
    const distance = Math.max(low - targets[index], targets[index] - upper[index]);
    return method === 'sigma-scaled' ? distance / requireDeviations(deviations)[index] : distance;
  });
}

/**
 * Conformal intervals: [lower − margin, upper + margin], the margin times the standard deviation with `sigma-scaled`.
 */
export function conformalIntervals({ method, margins }: ConformalIntervals, centres: IntervalCentres): Intervals {
  const columns = margins.length;
  const marginOf = (index: number): number =>
    margins[index % columns] * (method === 'sigma-scaled' ? requireDeviations(centres.deviations)[index] : 1);
  return {
    lower: centres.lower.map((low, index) => low - marginOf(index)),
    upper: centres.upper.map((high, index) => high + marginOf(index)),
  };
}

function requireDeviations(deviations: Float64Array | null): Float64Array {
  if (deviations !== null) return deviations;
  throw new RangeError(
    'Sigma-scaled intervals need standard deviations: members that predict variances, or more than one member. ' +
      'Use the method "split".',
  );
}
