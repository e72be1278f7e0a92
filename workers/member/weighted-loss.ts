import { tf, type Tensor } from '../tensorflow/tf.ts';
import type { Softening } from './sample-losses.ts';
import type { Task } from './tasks.ts';

/** Weights float32 `[..., B]`, and a mask of the targets' shape. */
export interface Weighing {
  weights: Tensor | null;
  mask: Tensor | null;
}

/**
 * A task's loss with weights w and mask m: Σᵢ wᵢ·mᵢ·lᵢ / (number of losses). The divisor does not depend on weights and masks, so that
 * the gradients of parts of a batch add up to those of the whole (Keras' `sum_over_batch_size`).
 * @param outputs `[..., B, W]` each @returns shape `[...]`
 * @throws Error if the task cannot weigh samples
 */
export function taskLoss(
  task: Task,
  outputs: Tensor[],
  targets: Tensor,
  softening: Softening,
  { weights, mask }: Weighing,
): Tensor {
  if (weights === null && mask === null) return task.loss(outputs, targets, softening);
  if (task.losses === undefined) {
    throw new Error(
      `The data have ${weights === null ? 'a mask' : 'weights'}, which the loss of the task ${task.kind} cannot use. Remove them, or give the ` +
        'project a loss.',
    );
  }
  const losses = task.losses(outputs, targets, softening);
  const samplesAt = outputs[0].rank - 2;
  let weighed = losses;
  if (mask !== null) weighed = tf.mul(weighed, tf.reshape(mask, losses.shape));
  if (weights !== null) {
    const ones = losses.shape.slice(samplesAt + 1).map(() => 1);
    weighed = tf.mul(weighed, tf.reshape(weights, [...losses.shape.slice(0, samplesAt + 1), ...ones]));
  }
  const axes = losses.shape.map((_, axis) => axis).slice(samplesAt);
  const count = axes.reduce((product, axis) => product * losses.shape[axis], 1);
  return tf.div(tf.sum(weighed, axes), count);
}
