import type { Batch } from '../../data/dataset.ts';

/**
 * The product of experts of M members: q = softmax(z̄), z̄ = 1/M Σ_m z_m, their normalised geometric mean (Webb, 2019,
 * "Distributed joint training of large ensembles with low communication overhead"). Sizes: `B` batch, `K` classes, `M` members.
 */

/** The ensemble's loss of a batch, and its gradient. */
export interface ProductLoss {
  /** −1/B Σ_b log q[b, y_b], in nats. NaN or infinite where a logit is. */
  loss: number;
  /** ∂loss/∂z_m = (q − p) / (M·B) for every member m, with one-hot labels p; shape `[B, K]`. */
  gradient: Float32Array;
}

/**
 * @param sum Σ_m z_m, shape `[B, K]`
 * @param labels class indices, shape `[B]`
 * @param members M
 */
export function productLoss(sum: Float32Array, labels: ArrayLike<number>, members: number): ProductLoss {
  const samples = labels.length;
  const classes = sum.length / samples;
  const gradient = new Float32Array(sum.length);
  const logits = new Float64Array(classes);
  let loss = 0;
  for (let sample = 0; sample < samples; sample++) {
    const first = sample * classes;
    for (let label = 0; label < classes; label++) logits[label] = sum[first + label] / members;
    const logNormalizer = logSumExp(logits);
    loss += (logNormalizer - logits[labels[sample]]) / samples;
    for (let label = 0; label < classes; label++) {
      const target = label === labels[sample] ? 1 : 0;
      gradient[first + label] = (Math.exp(logits[label] - logNormalizer) - target) / (members * samples);
    }
  }
  return { loss, gradient };
}

/** The loss of samples that may be mixed with others: λ·loss + (1 − λ)·loss of the others' labels, and its gradient. */
export function mixedProductLoss(
  sum: Float32Array,
  batch: Pick<Batch, 'targets' | 'mixed'>,
  members: number,
): ProductLoss {
  const own = productLoss(sum, batch.targets, members);
  if (batch.mixed === undefined) return own;
  const { share, partner } = batch.mixed;
  const others = productLoss(sum, partner.targets, members);
  return {
    loss: share * own.loss + (1 - share) * others.loss,
    gradient: own.gradient.map((value, i) => share * value + (1 - share) * others.gradient[i]),
  };
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
