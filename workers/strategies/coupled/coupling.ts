import { tf, type Tensor } from '../../tensorflow/tf.ts';

/** Sizes: `B` batch, `K` classes, `L` labels, `M` members. */

export interface Coupling {
  /** 1/B Σ_b KL(p[b] || q[b]) in nats, KL(p || q) = Σ_k p_k log(p_k / q_k). */
  loss: number;
  /** ∂loss/∂z with q held fixed: p_k (log(p_k / q_k) − KL) / B; shape `[B, K]`. */
  gradient: Float32Array;
}

/**
 * The divergence of a member's predictions p from the ensemble's predictions q.
 * @param probabilities p = softmax(z), shape `[B, K]`
 * @param sum Σ_m p_m over all M members, including this one: q = sum / M
 * @param samples B
 */
export function couple(probabilities: Float32Array, sum: Float32Array, members: number, samples: number): Coupling {
  const classes = probabilities.length / samples;
  const gradient = new Float32Array(probabilities.length);
  let loss = 0;
  for (let start = 0; start < probabilities.length; start += classes) {
    const logRatios = Float64Array.from({ length: classes }, (_, label) => {
      const own = probabilities[start + label];
      // A class with p = 0 contributes nothing to KL(p || q).
      return own === 0 ? 0 : Math.log(own / (sum[start + label] / members));
    });
    const divergence = logRatios.reduce((total, ratio, label) => total + probabilities[start + label] * ratio, 0);
    loss += divergence / samples;
    logRatios.forEach((ratio, label) => {
      gradient[start + label] = (probabilities[start + label] * (ratio - divergence)) / samples;
    });
  }
  return { loss, gradient };
}

/** A member's probabilities of the classes, `[B, K]`, or of the two states of each label, `[B, L, 2]`, from its logits `[B, K]` or `[B, L]`. */
export function exchangedProbabilities(logits: Tensor, ofLabels: boolean): Tensor {
  // σ(z) and σ(−z) are the softmax of (0, z): a probability near 1 keeps the digits of its complement.
  return tf.softmax(ofLabels ? tf.stack([tf.zerosLike(logits), logits], -1) : logits);
}

/**
 * {@link couple} for labels that are decided separately: the mean over samples and labels of the divergence of Bernoulli distributions, and its
 * gradient for the logits `[B, L]`.
 * @param probabilities `[B, L, 2]`
 */
export function coupleStates(probabilities: Float32Array, sum: Float32Array, members: number): Coupling {
  const { loss, gradient } = couple(probabilities, sum, members, probabilities.length / 2);
  return { loss, gradient: gradient.filter((_, i) => i % 2 === 1) };
}
