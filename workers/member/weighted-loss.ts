import { tf, type Tensor } from '../tensorflow/tf.ts';
import type { Softening } from './sample-losses.ts';
import type { Task } from './tasks.ts';

/** Weights float32 `[..., B]`, and a mask of the targets' shape. */
export interface Weighing {
  weights: Tensor | null;
  mask: Tensor | null;
  /** Further targets by name, `[..., B, ...]`; only needed where the model has further outputs. */
  extraTargets?: Readonly<Record<string, Tensor>>;
}

/** The loss of a task with its further outputs: its own, and theirs times their weights. */
export function taskLoss(task: Task, outputs: Tensor[], targets: Tensor, softening: Softening, of: Weighing): Tensor {
  const own = ownLoss(task, outputs, targets, softening, of);
  if (task.further === undefined) return own;
  const { weights, extraTargets = {} } = of;
  return task.further.reduce((sum, output) => {
    const theirs = output.targetsOf(extraTargets);
    const loss = ownLoss(output.task, output.outputsOf(outputs), theirs, softening, { weights, mask: null });
    return tf.add(sum, tf.mul(loss, output.weight));
  }, own);
}

/**
 * A task's loss with weights w and mask m: Σᵢ wᵢ·mᵢ·lᵢ / Σᵢ mᵢ, the mean over the losses that the mask counts (as
 * PyTorch's `ignore_index`); 0 where it counts none. The divisor does not depend on weights (Keras'
 * `sum_over_batch_size`).
 * @param outputs `[..., B, ...P, W]` each @returns shape `[...]`
 * @throws Error if the task cannot weigh samples
 */
function ownLoss(
  task: Task,
  outputs: Tensor[],
  targets: Tensor,
  softening: Softening,
  { weights, mask }: Weighing,
): Tensor {
  if (weights === null && mask === null) return task.loss(outputs, targets, softening);
  if (task.losses === undefined) {
    throw new Error(
      `The data have ${weights === null ? 'a mask' : 'weights'}, which the loss of the task ${task.kind} cannot ` +
        'use. Remove them, or give the project a loss.',
    );
  }
  const losses = task.losses(outputs, targets, softening);
  const samplesAt = outputs[0].rank - 2 - (task.positionAxes ?? 0);
  const ownMask = mask && alignedTo(losses, mask);
  let weighed = ownMask === null ? losses : tf.mul(losses, ownMask);
  if (weights !== null) {
    const ones = losses.shape.slice(samplesAt + 1).map(() => 1);
    weighed = tf.mul(weighed, tf.reshape(weights, [...losses.shape.slice(0, samplesAt + 1), ...ones]));
  }
  const axes = losses.shape.map((_, axis) => axis).slice(samplesAt);
  if (ownMask !== null) return tf.div(tf.sum(weighed, axes), countOf(losses, ownMask, axes));
  const count = axes.reduce((product, axis) => product * losses.shape[axis], 1);
  return tf.div(tf.sum(weighed, axes), count);
}

/**
 * A mask in a shape that multiplies losses: where a target has several losses (quantiles), it has an axis of 1 for
 * them.
 */
function alignedTo(losses: Tensor, mask: Tensor): Tensor {
  return tf.reshape(mask, mask.size === losses.size ? losses.shape : [...losses.shape.slice(0, -1), 1]);
}

/** How many losses a mask counts, shape `[...]`; at least 1. */
function countOf(losses: Tensor, mask: Tensor, axes: number[]): Tensor {
  return tf.maximum(tf.mul(tf.sum(mask, axes), losses.size / mask.size), 1);
}
