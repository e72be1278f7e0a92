import { hard, type Softening } from '../member/sample-losses.ts';

/**
 * The product of experts of M members: q = softmax(z̄), z̄ = 1/M Σ_m z_m, their normalised geometric mean (Webb, 2019,
 * "Distributed joint training of large ensembles with low communication overhead"). Sizes: `B` batch, `K` classes, `M`
 * members.
 */

/** The ensemble's loss of a batch, and its gradient. */
export interface ProductLoss {
  /** The mean over the batch, in nats. NaN or infinite where a logit is. */
  loss: number;
  /** ∂loss/∂z_m, the same for every member m, in the shape of its outputs. */
  gradient: Float32Array;
}

/**
 * The cross-entropy of q = softmax(z̄ / T): −1/B Σ_b Σ_k p[b, k] log q[b, k], whose gradient is (q − p) / (M·B·T). The
 * targets p are one-hot labels, of which a share ε is spread over all classes.
 *
 * @param sum Σ_m z_m, shape `[B, K]`
 * @param labels class indices, shape `[B]`
 * @param members M
 */
export function productLoss(
  sum: Float32Array,
  labels: ArrayLike<number>,
  members: number,
  { labelSmoothing, temperature }: Softening = hard,
): ProductLoss {
  const samples = labels.length;
  const classes = sum.length / samples;
  const divisor = members * temperature;
  const spread = labelSmoothing / classes;
  const gradient = new Float32Array(sum.length);
  const logits = new Float64Array(classes);
  let loss = 0;
  for (let sample = 0; sample < samples; sample++) {
    const first = sample * classes;
    for (let label = 0; label < classes; label++) logits[label] = sum[first + label] / divisor;
    const logNormalizer = logSumExp(logits);
    loss += (1 - labelSmoothing) * (logNormalizer - logits[labels[sample]]);
    for (let label = 0; label < classes; label++) {
      if (spread > 0) loss += spread * (logNormalizer - logits[label]);
      const target = spread + (label === labels[sample] ? 1 - labelSmoothing : 0);
      gradient[first + label] = (Math.exp(logits[label] - logNormalizer) - target) / (divisor * samples);
    }
  }
  return { loss: loss / samples, gradient };
}

/** log Σ exp(z), relative to the largest z to prevent overflow; NaN where any z is NaN. */
function logSumExp(logits: Float64Array): number {
  let largest = -Infinity;
  for (const logit of logits) largest = Math.max(largest, logit);
  let sum = 0;
  for (const logit of logits) sum += Math.exp(logit - largest);
  return largest + Math.log(sum);
}

/** Sums members' arrays element by element, in their order and rounded to float32 after each, as the relay does. */
export function sumInOrder(arrays: readonly Float32Array[]): Float32Array {
  const sum = arrays[0].slice();
  for (const array of arrays.slice(1)) for (let i = 0; i < sum.length; i++) sum[i] += array[i];
  return sum;
}
