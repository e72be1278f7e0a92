import { mean } from '../predictions.ts';
import type { Values } from '../stacks.ts';
import { weightedMean, type Weights } from '../weights.ts';

/** Predicted quantiles. */
export interface Quantiles {
  /** Shape `[N, Q]`. */
  values: Values;
  /** In (0, 1), ascending, shape `[Q]`. */
  levels: readonly number[];
}

/**
 * Pinball loss, 1/(N·Q) Σ_n Σ_q max(q e, (q - 1) e) with e = y_n - value_nq: from 0 up, in the unit of the targets. NaN where a value is not
 * finite.
 *
 * Source: Koenker and Bassett, "Regression quantiles", Econometrica 46, 1978.
 *
 * @param targets shape `[N]`
 * @param weights shape `[N]`
 */
export function pinballLoss({ values, levels }: Quantiles, targets: Values, weights?: Weights): number {
  const losses = Float64Array.from(targets, (target, n) => {
    const ofLevels = levels.map((level, q) => {
      const error = target - values[n * levels.length + q];
      return Number.isFinite(error) ? Math.max(level * error, (level - 1) * error) : NaN;
    });
    return mean(ofLevels);
  });
  return weightedMean(losses, weights);
}

/** Share of targets from the first to the last quantile, both included; NaN where a value is not finite. Weights `[N]`. */
export function intervalShare({ values, levels }: Quantiles, targets: Values, weights?: Weights): number {
  const last = levels.length - 1;
  return weightedMean(
    Float64Array.from(targets, (target, n) => {
      const [low, high] = [values[n * levels.length], values[n * levels.length + last]];
      if (!Number.isFinite(low) || !Number.isFinite(high)) return NaN;
      return low <= target && target <= high ? 1 : 0;
    }),
    weights,
  );
}
