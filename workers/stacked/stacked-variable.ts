import { type Tensor, tf, type Variable } from '../tensorflow/tf.ts';
import type { Layer } from './model-graph.ts';

/** The variables that M members have in one place, as one: `[M, ...]`, row m being member m's. */
export class StackedVariable {
  readonly variable: Variable;
  readonly sources: readonly Variable[];

  /** @param shape of the whole; by default that of a member's with M before it */
  constructor(sources: readonly Variable[], shape: number[] = [sources.length, ...sources[0].shape], trainable = true) {
    this.sources = sources;
    this.variable = tf.tidy(() => tf.variable(tf.reshape(tf.stack([...sources]), shape), trainable));
  }

  /** Each member's row, of the shape of its own variable. */
  rows(): Tensor[] {
    return tf.unstack(this.variable).map((row, member) => tf.reshape(row, this.sources[member].shape));
  }

  /** Gives a member's own variable the values that its row has now. */
  unload(member: number): void {
    const own = this.sources[member];
    tf.tidy(() => own.assign(tf.reshape(rowOf(this.variable, member), own.shape)));
  }

  dispose(): void {
    this.variable.dispose();
  }
}

/** Row m of a tensor `[M, ...]`, shape `[1, ...]`. */
function rowOf(tensor: Tensor, member: number): Tensor {
  const others = tensor.shape.slice(1);
  return tf.slice(tensor, [member, ...others.map(() => 0)], [1, ...others]);
}

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
