import { tf, type Tensor } from '../tensorflow/tf.ts';

/** Settings that soften a classification loss. */
export interface Softening {
  /** ε in [0, 1) */
  labelSmoothing: number;
  /** T > 0 */
  temperature: number;
}

export const hard: Softening = { labelSmoothing: 0, temperature: 1 };

/** −log p of each label, smoothed as the task's loss is: logits `[..., B, K]`, labels `[..., B]`. */
export function labelLosses(logits: Tensor, labels: Tensor, { labelSmoothing, temperature }: Softening): Tensor {
  const logProbabilities = tf.logSoftmax(temperature === 1 ? logits : tf.div(logits, temperature));
  const chosen = tf.oneHot(tf.cast(labels, 'int32'), logits.shape[logits.rank - 1]);
  const losses = tf.neg(tf.sum(tf.mul(logProbabilities, chosen), -1));
  if (labelSmoothing === 0) return losses;
  const spread = tf.neg(tf.mean(logProbabilities, -1));
  return tf.add(tf.mul(losses, 1 - labelSmoothing), tf.mul(spread, labelSmoothing));
}

/** log σ² + (y − μ)²/σ² of each sample; mean and variance `[..., B, 1]`. */
export function gaussianLosses(mean: Tensor, variance: Tensor, targets: Tensor): Tensor {
  const error = tf.square(tf.sub(mean, tf.reshape(targets, mean.shape)));
  return tf.add(tf.log(variance), tf.div(error, variance));
}

/**
 * Sigmoid cross-entropy of logits z/T against states y, 0 or 1, in the logits' shape: log(1 + exp((1 − 2y) z/T)), with
 * a share ε of each state spread over both: that of y (1 − ε) + ε/2. TensorFlow.js's `sigmoidCrossEntropy` has a
 * gradient of −y at z = 0, where it is 1/2 − y.
 */
export function stateLosses(logits: Tensor, states: Tensor, { labelSmoothing, temperature }: Softening = hard): Tensor {
  const scaled = temperature === 1 ? logits : tf.div(logits, temperature);
  const signs = tf.sub(1, tf.mul(2, tf.reshape(tf.cast(states, 'float32'), logits.shape)));
  const losses = tf.softplus(tf.mul(signs, scaled));
  if (labelSmoothing === 0) return losses;
  const both = tf.add(tf.softplus(scaled), tf.softplus(tf.neg(scaled)));
  return tf.add(tf.mul(losses, 1 - labelSmoothing), tf.mul(both, labelSmoothing / 2));
}
