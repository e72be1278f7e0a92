import { countEnsembleMetrics } from '../../../core/metrics/index.ts';
import type { Dataset } from '../../data/dataset.ts';
import { tf, type Tensor } from '../../tensorflow/tf.ts';
import { requireOutputs, requireValues, targetColumns, targetText, targetWeights } from './checks.ts';
import { positionsOf } from './positions.ts';
import type { Task } from './task.ts';

/** Counts: targets Float32Array `[N]` or `[N, T]` of whole numbers from 0, the logarithm of the rate for each. */
export const poissonRegression: Task = {
  kind: 'poisson-regression',
  ensembleMonitor: 'val/ens_nll',
  memberMonitor: 'val/member_{rank}_nll',
  targetSize: targetColumns,
  check(model, dataset) {
    const columns = targetColumns(dataset);
    const expected = `one output of ${columns} value(s): the logarithm of the rate`;
    requireOutputs(model, [columns], expected, positionsOf('poisson-regression', dataset));
    requireCounts(dataset);
  },
  loss: ([logRates], counts) => tf.mean(countLosses(logRates, counts), [-2, -1]),
  losses: ([logRates], counts) => countLosses(logRates, counts),
  predicts: 'values',
  predictionsOf: ([logRates]) => [tf.exp(logRates)],
  metrics: ({ ranks, samples, width, values }, dataset, options) => {
    const rates = { members: ranks.length, samples: samples * width, values: values[0] };
    const own = { ...options, columns: width, weights: targetWeights(dataset) };
    return countEnsembleMetrics(rates, dataset.targets as Float32Array, ranks, own);
  },
};

/** exp(z) - y z, the Poisson NLL without log y!, as `PoissonNLLLoss` of PyTorch: `[..., B, T]`. */
function countLosses(logRates: Tensor, counts: Tensor): Tensor {
  return tf.sub(tf.exp(logRates), tf.mul(tf.reshape(counts, logRates.shape), logRates));
}

function requireCounts(dataset: Dataset): void {
  requireValues(dataset);
  const wrong = dataset.targets.findIndex((count) => !Number.isInteger(count) || count < 0);
  if (wrong < 0) return;
  throw new Error(
    `${targetText(dataset, wrong)} is ${dataset.targets[wrong]}: the task poisson-regression needs counts, ` +
      'whole numbers from 0. For other values, use the task regression.',
  );
}
