import { tf, type Tensor, type Variable } from '../tensorflow/tf.ts';

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
