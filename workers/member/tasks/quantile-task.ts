import { quantileEnsembleMetrics } from '../../../core/metrics/index.ts';
import { tf, type Tensor } from '../../tensorflow/tf.ts';
import { requireOutputs, requireValues, targetWeights } from './checks.ts';
import { positionsOf } from './positions.ts';
import type { Task } from './task.ts';

/**
 * Quantiles of one value: targets Float32Array `[N]`, one output for each level.
 *
 * @param levels in (0, 1), ascending
 */
export function quantileTask(levels: readonly number[]): Task {
  return {
    kind: 'quantile-regression',
    ensembleMonitor: 'val/ens_pinball',
    memberMonitor: 'val/member_{rank}_pinball',
    targetSize: () => levels.length,
    check(model, dataset) {
      const expected = `one output of ${levels.length} quantiles (levels ${levels.join(', ')})`;
      requireOutputs(model, [levels.length], expected, positionsOf('quantile-regression', dataset));
      requireValues(dataset);
      const columns = dataset.targets.length / dataset.length;
      if (dataset.targetShape !== undefined || columns === 1) return;
      throw new Error(
        `${dataset.name} has ${columns} targets per sample: the task quantile-regression learns the quantiles of ` +
          'one. Train one project for each target; for a target at each step of a sequence, give targetShape.',
      );
    },
    loss: ([values], targets) => tf.mean(pinballLosses(values, targets, levels), [-2, -1]),
    losses: ([values], targets) => pinballLosses(values, targets, levels),
    predicts: 'values',
    metrics: ({ ranks, samples, width, values }, dataset, options) => {
      const stack = { members: ranks.length, samples: samples * width, values: values[0] };
      const own = { ...options, weights: targetWeights(dataset) };
      return quantileEnsembleMetrics(stack, dataset.targets as Float32Array, ranks, levels, own);
    },
  };
}

/**
 * max(q e, (q − 1) e) with e = y − value, as scikit-learn's `mean_pinball_loss`: values `[..., B, Q]`, targets
 * `[..., B]`.
 */
function pinballLosses(values: Tensor, targets: Tensor, levels: readonly number[]): Tensor {
  const errors = tf.sub(tf.reshape(targets, [...values.shape.slice(0, -1), 1]), values);
  const above = tf.tensor1d([...levels]);
  return tf.maximum(tf.mul(above, errors), tf.mul(tf.sub(above, 1), errors));
}
