import { tf, type Tensor, type Variable } from '../tensorflow/tf.ts';
import type { Layer } from './model-graph.ts';
import { StackedVariable } from './stacked-variable.ts';

/** A value `[M, B, ..., I]` as matrices `[M, B', I]`. */
export function asMatrices(x: Tensor): Tensor {
  return x.rank === 3 ? x : tf.reshape(x, [x.shape[0], -1, ...x.shape.slice(-1)]);
}

/** Matrices `[M, B', O]` with the axes between that x has. */
export function withShapeOf(x: Tensor, matrices: Tensor): Tensor {
  if (x.rank === 3) return matrices;
  return tf.reshape(matrices, [matrices.shape[0], ...x.shape.slice(1, -1), ...matrices.shape.slice(2)]);
}

/** A value `[M, B, ...]` or `[1, B, ...]` as that of each member, `[B, ...]`. */
export function membersOf(x: Tensor, members: number): Tensor[] {
  const own = tf.unstack(x);
  return own.length === members ? own : Array.from({ length: members }, () => own[0]);
}

/** The members' weights at a position as one: matrices `[M, I, O]`, vectors `[M, 1, O]`. */
export function stackWeight(layers: readonly Layer[], position: number): StackedVariable {
  // The layers API hands its variables out typed as tensors.
  const variables = layers.map((layer) => layer.weights[position].read() as Variable);
  const { shape } = variables[0];
  return new StackedVariable(variables, [layers.length, ...(shape.length === 1 ? [1] : []), ...shape]);
}
