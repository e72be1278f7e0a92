import { mean } from '../predictions.ts';
import type { Values } from '../stacks.ts';

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
 */
export function pinballLoss({ values, levels }: Quantiles, targets: Values): number {
  return mean(
    Float64Array.from(values, (value, index) => {
      if (!Number.isFinite(value)) return NaN;
      const level = levels[index % levels.length];
      const error = targets[Math.floor(index / levels.length)] - value;
      return Math.max(level * error, (level - 1) * error);
    }),
  );
}

/** Share of targets from the first to the last quantile, both included; NaN where a value is not finite. */
export function intervalShare({ values, levels }: Quantiles, targets: Values): number {
  const last = levels.length - 1;
  return mean(
    Float64Array.from(targets, (target, n) => {
      const [low, high] = [values[n * levels.length], values[n * levels.length + last]];
      if (!Number.isFinite(low) || !Number.isFinite(high)) return NaN;
      return low <= target && target <= high ? 1 : 0;
    }),
  );
}
