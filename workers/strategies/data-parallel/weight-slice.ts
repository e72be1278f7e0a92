import { valuesOf } from '../../backends/tensor-values.ts';
import { tf, type Variable } from '../../tensorflow/tf.ts';
import type { Gradient } from '../../member/member.ts';
import type { Segment } from './flat-layout.ts';

/**
 * A rank's slice of all trained weights, shape `[S]`, with one variable for each tensor, or part of one, in it: an optimizer
 * counts the updates of each tensor separately, as a step's loss may not depend on all of them. Padding belongs to no tensor.
 */
export class WeightSlice {
  readonly variables: readonly Variable[];
  /** The tensor, or part of one, of each variable. */
  readonly segments: readonly Segment[];
  readonly #values: Float32Array<ArrayBuffer>;

  /** @param values of the slice, shape `[S]`; the slice keeps the array */
  constructor(values: Float32Array<ArrayBuffer>, segments: readonly Segment[]) {
    this.#values = values;
    this.segments = segments;
    this.variables = segments.map(({ start, end }) =>
      tf.tidy(() => tf.variable(tf.tensor1d(values.slice(start, end)), false)),
    );
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

  /** Assigns values to the weights. @param values may have more elements than the slice */
  write(values: Float32Array): void {
    for (const [i, { start, end }] of this.segments.entries()) {
      tf.tidy(() => this.variables[i].assign(tf.tensor1d(values.slice(start, end))));
    }
  }

  /** The current weights, shape `[S]`; valid until the next call. */
  async read(): Promise<Float32Array<ArrayBuffer>> {
    for (const [i, { start }] of this.segments.entries()) this.#values.set(await valuesOf(this.variables[i]), start);
    return this.#values;
  }
}
