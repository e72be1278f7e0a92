import { labelEnsembleMetrics, scoresOfLabels } from '../../../core/metrics/index.ts';
import type { Dataset } from '../../data/dataset.ts';
import { tf } from '../../tensorflow/tf.ts';
import { requireLogits } from '../output-activation.ts';
import { stateLosses } from '../sample-losses.ts';
import { requireOutputs, requireValues, targetColumns, targetText, targetWeights } from './checks.ts';
import { positionsOf } from './positions.ts';
import type { Task } from './task.ts';

/** A sample has any of L labels: targets Float32Array `[N, L]` of 0 and 1, one logit for each label. */
export const multiLabel: Task = {
  kind: 'multi-label',
  ensembleMonitor: 'val/ens_nll',
  memberMonitor: 'val/member_{rank}_nll',
  targetSize: targetColumns,
  check(model, dataset) {
    const labels = targetColumns(dataset);
    const expected = `one output of ${labels} logits (${labels} labels in ${dataset.name})`;
    requireOutputs(model, [labels], expected, positionsOf('multi-label', dataset));
    requireLogits(model, 'sigmoid');
    requireStates(dataset);
  },
  loss: ([logits], targets, softening) => tf.mean(stateLosses(logits, targets, softening), [-2, -1]),
  losses: ([logits], targets, softening) => stateLosses(logits, targets, softening),
  predicts: 'label-logits',
  metrics: ({ ranks, samples, width, values }, dataset, options) => {
    const stack = { members: ranks.length, samples, classes: width, logits: values[0] };
    return labelEnsembleMetrics(stack, dataset.targets, ranks, { ...options, weights: targetWeights(dataset) });
  },
  labelScores({ ranks, samples, width, values }, dataset, combination) {
    const stack = { members: ranks.length, samples, classes: width, logits: values[0] };
    return scoresOfLabels(stack, dataset.targets, dataset.classNames, targetWeights(dataset), combination);
  },
};

function requireStates(dataset: Dataset): void {
  requireValues(dataset);
  const wrong = dataset.targets.findIndex((state) => state !== 0 && state !== 1);
  if (wrong < 0) return;
  throw new Error(
    `${targetText(dataset, wrong)} is ${dataset.targets[wrong]}: the task multi-label needs 1 for each label ` +
      'that a sample has and 0 for each that it has not, Float32Array [N, L]. For one label of several, use the task ' +
      'classification.',
  );
}
