import { valuesOf } from '../../tensorflow/tensor-values.ts';
import { tf, type Variable } from '../../tensorflow/tf.ts';
import type { Gradient } from '../../member/member.ts';
import type { Segment } from '../data-parallel/flat-layout.ts';

/**
 * A rank's slice of all trained weights, shape `[S]`, with one variable for each tensor, or part of one, in it: an optimizer
 * counts the updates of each tensor separately, as a step's loss may not depend on all of them. Padding belongs to no tensor.
 */
export class WeightSlice {
  readonly variables: readonly Variable[];
  /** The tensor, or part of one, of each variable. */
  readonly segments: readonly Segment[];

  /** @param values of the slice, shape `[S]` */
  constructor(values: Float32Array, segments: readonly Segment[]) {
    this.segments = segments;
    this.variables = segments.map(({ start, end }) =>
      tf.tidy(() => tf.variable(tf.tensor1d(values.slice(start, end)), false)),
    );
  }

  /** The variables by name, for states. */
  get tensors(): ReadonlyMap<string, Variable> {
    return new Map(this.variables.map((variable, i) => [`slice.${i}`, variable]));
  }

  /**
   * Gradients for an optimizer of `variables`; the caller disposes of them.
   *
   * @param flat the slice's mean gradient, shape `[S]`, which must not change until then
   * @param isReached for each of the model's variables
   */
  toGradients(flat: Float32Array, isReached: readonly boolean[]): Gradient[] {
    return this.segments.map(({ tensor, start, end }) =>
      isReached[tensor] ? tf.tensor1d(flat.subarray(start, end)) : null,
    );
  }

  /** Assigns values to the weights from element `from` on. No tensor, or part of one, may begin before `from` and end after it. */
  write(values: Float32Array, from: number): void {
    for (const [i, { start, end }] of this.segments.entries()) {
      if (start < from || end > from + values.length) continue;
      tf.tidy(() => this.variables[i].assign(tf.tensor1d(values.slice(start - from, end - from))));
    }
  }

  /** The current weights from element `from` to `to`, with zeros for padding. */
  async read(from: number, to: number): Promise<Float32Array<ArrayBuffer>> {
    const values = new Float32Array(to - from);
    for (const [i, { start, end }] of this.segments.entries()) {
      if (start >= from && end <= to) values.set(await valuesOf(this.variables[i]), start - from);
    }
    return values;
  }
}
