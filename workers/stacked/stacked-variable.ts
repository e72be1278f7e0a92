import { type Tensor, tf, type Variable } from '../tensorflow/tf.ts';
import type { Layer } from '../tensorflow/model-graph.ts';

/** One variable of each of M members as one: `[M, ...]`, with member m's in row m. */
export class StackedVariable {
  readonly variable: Variable;
  readonly sources: readonly Variable[];

  /** @param shape of the stacked variable; by default M followed by the shape of a member's */
  constructor(sources: readonly Variable[], shape: number[] = [sources.length, ...sources[0].shape], trainable = true) {
    this.sources = sources;
    this.variable = tf.tidy(() => tf.variable(tf.reshape(tf.stack([...sources]), shape), trainable));
  }

  /** Each member's row, in the shape of its variable. */
  rows(): Tensor[] {
    return tf.unstack(this.variable).map((row, member) => tf.reshape(row, this.sources[member].shape));
  }

  /** Copies a member's row to its variable. */
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

/** Reshapes a value `[M, B, ..., I]` to matrices `[M, B', I]`. */
export function asMatrices(x: Tensor): Tensor {
  return x.rank === 3 ? x : tf.reshape(x, [x.shape[0], -1, ...x.shape.slice(-1)]);
}

/** Reshapes matrices `[M, B', O]` to `[M, B, ..., O]`, with the middle axes of x. */
export function withShapeOf(x: Tensor, matrices: Tensor): Tensor {
  if (x.rank === 3) return matrices;
  return tf.reshape(matrices, [matrices.shape[0], ...x.shape.slice(1, -1), ...matrices.shape.slice(2)]);
}

/** Splits a value `[M, B, ...]` or `[1, B, ...]` by member: `[B, ...]` each. */
export function membersOf(x: Tensor, members: number): Tensor[] {
  const own = tf.unstack(x);
  return own.length === members ? own : Array.from({ length: members }, () => own[0]);
}

/** Repeats a value that all members share. */
export function spread(x: Tensor, members: number): Tensor {
  return x.shape[0] === members ? x : tf.tile(x, [members, ...x.shape.slice(1).map(() => 1)]);
}

/** Stacks the members' weights at a position: matrices `[M, I, O]`, vectors `[M, 1, O]`. */
export function stackWeight(layers: readonly Layer[], position: number): StackedVariable {
  // The layers API types its variables as tensors.
  const variables = layers.map((layer) => layer.weights[position].read() as Variable);
  const { shape } = variables[0];
  return new StackedVariable(variables, [layers.length, ...(shape.length === 1 ? [1] : []), ...shape]);
}
