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
