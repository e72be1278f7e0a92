import { tf } from '../../tensorflow/tf.ts';

/** Whether a gradient of a gradient is being computed: fused gradients have none of their own. */
export function isInNestedGradient(): boolean {
  const { state } = tf.engine() as unknown as { state: { gradientDepth: number } };
  return state.gradientDepth > 1;
}
