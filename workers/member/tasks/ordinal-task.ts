import { classificationMetrics, stackedClasses } from '../../../core/metrics/index.ts';
import { tf, type Tensor } from '../../tensorflow/tf.ts';
import { requireLogits } from '../output-activation.ts';
import { hard, type Softening, stateLosses } from '../sample-losses.ts';
import { classCount, requireLabels, requireOutputs, targetWeights } from './checks.ts';
import { positionsOf } from './positions.ts';
import type { Task } from './task.ts';

/**
 * Ordered classes by continuation ratios: logit k of K - 1 is that of P(y > k | y ≥ k), so that all logits give
 * probabilities of the classes (Tutz, "Sequential models in categorical regression", 1991; CORN of Shi, Cao and
 * Raschka, 2023, has the same conditional probabilities).
 */
export const ordinal: Task = {
  kind: 'ordinal',
  ensembleMonitor: 'val/ens_nll',
  memberMonitor: 'val/member_{rank}_nll',
  targetSize: (dataset) => classCount(dataset) - 1,
  check(model, dataset) {
    const classes = classCount(dataset);
    requireOutputs(
      model,
      [classes - 1],
      `one output of ${classes - 1} logits, one less than the classes of ${dataset.name}`,
      positionsOf('ordinal', dataset),
    );
    requireLogits(model, 'sigmoid');
    requireLabels(dataset, classes);
  },
  loss: ([logits], labels, softening) => tf.mean(softenedLosses(logits, labels, softening), -1),
  losses: ([logits], labels, softening) => softenedLosses(logits, labels, softening),
  predicts: 'logits',
  predictionsOf: ([logits]) => [logProbabilities(logits)],
  metrics: ({ ranks, samples, width, values }, dataset, options) => {
    const stack = stackedClasses({ kind: 'logits', members: ranks.length, samples, width, values: values[0] });
    const own = { ...options, weights: targetWeights(dataset) };
    return classificationMetrics(stack, dataset.targets as Int32Array, ranks, own, 'ordinal');
  },
};

/**
 * Losses of logits z/T, with a share ε of each label spread over all K classes: (1 − ε)·(−log P(y)) + ε·mean_k(−log
 * P(k)).
 */
function softenedLosses(logits: Tensor, labels: Tensor, { labelSmoothing, temperature }: Softening = hard): Tensor {
  const scaled = temperature === 1 ? logits : tf.div(logits, temperature);
  const losses = ordinalLosses(scaled, labels);
  if (labelSmoothing === 0) return losses;
  const spread = tf.neg(tf.mean(logProbabilities(scaled), -1));
  return tf.add(tf.mul(losses, 1 - labelSmoothing), tf.mul(spread, labelSmoothing));
}

/**
 * −log P(y): the cross-entropies of [y > k] for all k up to y. Logits `[..., B, K - 1]`, labels `[..., B]`, the result
 * `[..., B]`.
 */
function ordinalLosses(logits: Tensor, labels: Tensor): Tensor {
  const thresholds = tf.range(0, logits.shape[logits.rank - 1], 1, 'float32');
  const own = tf.expandDims(tf.cast(labels, 'float32'), -1);
  const losses = stateLosses(logits, tf.greater(own, thresholds));
  return tf.sum(tf.mul(losses, tf.cast(tf.lessEqual(thresholds, own), 'float32')), -1);
}

/** log P(y = k) = Σ_{j<k} log σ(z_j) + log(1 − σ(z_k)), which are logits of K classes: `[..., B, K]`. */
function logProbabilities(logits: Tensor): Tensor {
  const onward = tf.neg(tf.softplus(tf.neg(logits)));
  // The cumsum of TensorFlow.js takes no negative axis on all backends.
  const reached = tf.cumsum(onward, onward.rank - 1, true);
  const stopped = tf.sub(reached, tf.softplus(logits));
  return tf.concat([stopped, tf.sum(onward, -1, true)], -1);
}
