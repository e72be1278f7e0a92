import type { TaskKind } from '../../../core/metrics/registry/metric.ts';
import type { Dataset } from '../../data/dataset.ts';
import { tf, type Tensor } from '../../tensorflow/tf.ts';
import type { Task } from './task.ts';

/** Tasks with a single target at each position; those of the others are lists of columns or labels. */
const withSingleTargets: ReadonlySet<TaskKind> = new Set([
  'classification',
  'binary',
  'ordinal',
  'quantile-regression',
]);

/**
 * The shape P of a sample's positions, each of which has a prediction: `[steps]` of a sequence, `[height, width]` of an
 * image whose pixels are classified; `[]` where a sample has one. Targets `[N, ...P]` (classes, values of quantiles) or
 * `[N, ...P, T]` (columns, labels).
 */
export function positionsOf(kind: TaskKind, { targetShape = [] }: Pick<Dataset, 'targetShape'>): readonly number[] {
  const shape = withSingleTargets.has(kind) ? targetShape : targetShape.slice(0, -1);
  return shape.every((size) => size === 1) ? [] : shape;
}

/**
 * A task at each position of a sample: outputs `[..., B, ...P, W]`. Loss and metrics treat positions as samples, so
 * that they are means over all positions that a mask counts, as of PyTorch's `cross_entropy` with `ignore_index`.
 */
export function atPositions(task: Task, { length: axes }: readonly number[]): Task {
  if (axes === 0) return task;
  const samplesAt = ([output]: Tensor[]): number => output.rank - axes - 2;
  const merge = (tensor: Tensor, at: number): Tensor =>
    tf.reshape(tensor, [...tensor.shape.slice(0, at), -1, ...tensor.shape.slice(at + axes + 1)]);
  const mergeAll = (outputs: Tensor[]): Tensor[] => outputs.map((output) => merge(output, samplesAt(outputs)));
  const lossesAt: Task['losses'] = (outputs, targets, softening) => {
    const at = samplesAt(outputs);
    const merged = task.losses?.(mergeAll(outputs), merge(targets, at), softening);
    if (merged === undefined) throw new Error(`The task ${task.kind} has no loss of each sample.`);
    return tf.reshape(merged, [...outputs[0].shape.slice(0, -1), ...merged.shape.slice(at + 1)]);
  };
  return {
    ...task,
    positionAxes: axes,
    loss: (outputs, targets, softening) => task.loss(mergeAll(outputs), merge(targets, samplesAt(outputs)), softening),
    ...(task.losses !== undefined && { losses: lossesAt }),
  };
}
