import { totalWeight, type Weights } from '../../metrics/weights.ts';

/**
 * The prior of all fits: as if this many further samples had been seen, with the outcomes that the uncalibrated answers expect. It draws a fit towards
 * no calibration where samples are few, and hardly counts where they are many.
 */
export const PRIOR_SAMPLES = 10;

/** n of weighted samples, (Σ w)² / Σ w² (Kish, "Survey sampling", 1965). */
export function effectiveCount(samples: number, weights?: Weights): number {
  const squares = weights?.reduce((sum, weight) => sum + weight ** 2, 0) ?? samples;
  return totalWeight(samples, weights) ** 2 / squares;
}

/** What the prior weighs beside the samples: `prior` / n. */
export const priorShare = (prior: number, samples: number, weights?: Weights): number =>
  prior === 0 ? 0 : prior / effectiveCount(samples, weights);

/**
 * What a fit should predict: the classes, and with the weight of the prior the uncalibrated probabilities, ([k = y] + share p_k) / (1 + share), shape
 * `[N, K]`. The cross-entropy to these is the NLL of the samples and of the prior's together, divided by 1 + share.
 *
 * @param targets class indices, shape `[N]`
 * @param logarithms of the uncalibrated probabilities, shape `[N, K]`
 */
export function softTargets(targets: Int32Array, logarithms: Float64Array, share: number): Float64Array {
  const classes = logarithms.length / targets.length;
  const soft = logarithms.map((value) => (share === 0 ? 0 : (share * Math.exp(value)) / (1 + share)));
  targets.forEach((target, sample) => (soft[sample * classes + target] += 1 / (1 + share)));
  return soft;
}
