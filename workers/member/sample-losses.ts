import { tf, type Tensor } from '../tensorflow/tf.ts';

/** Settings that soften a classification loss. */
export interface Softening {
  /** ε in [0, 1) */
  labelSmoothing: number;
  /** T > 0 */
  temperature: number;
}

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
 * Sigmoid cross-entropy of logits z against states y, 0 or 1, in the logits' shape: log(1 + exp((1 − 2y) z)). TensorFlow.js's
 * `sigmoidCrossEntropy` has a gradient of −y at z = 0, where it is 1/2 − y.
 */
export function stateLosses(logits: Tensor, states: Tensor): Tensor {
  const signs = tf.sub(1, tf.mul(2, tf.reshape(tf.cast(states, 'float32'), logits.shape)));
  return tf.softplus(tf.mul(signs, logits));
}
