import { valuesOf } from '../../backends/tensor-values.ts';
import { tf, type Variable } from '../../tensorflow/tf.ts';
import type { Gradient } from '../../member/member.ts';
import type { Segment } from './flat-layout.ts';

/**
 * A rank's slice of all trained weights, shape `[S]`, with a variable for each tensor or part of one in it: an optimizer counts the
 * updates of each tensor by itself, as the loss may not depend on all of them at each step. What pads the last slice belongs to no tensor.
 */
export class WeightSlice {
  readonly variables: readonly Variable[];
  readonly #segments: readonly Segment[];
  readonly #values: Float32Array<ArrayBuffer>;

  /** @param values of the slice, shape `[S]`, which it takes over */
  constructor(values: Float32Array<ArrayBuffer>, segments: readonly Segment[]) {
    this.#values = values;
    this.#segments = segments;
    this.variables = segments.map(({ start, end }) =>
      tf.tidy(() => tf.variable(tf.tensor1d(values.slice(start, end)), false)),
    );
  }

  /**
   * Gradients as an optimizer of `variables` takes them; the caller disposes of them.
   *
   * @param flat the slice's mean gradient, shape `[S]`, which must not change before they are disposed of
   * @param isReached of each of the model's variables
   */
  toGradients(flat: Float32Array, isReached: readonly boolean[]): Gradient[] {
    return this.#segments.map(({ tensor, start, end }) =>
      isReached[tensor] ? tf.tensor1d(flat.subarray(start, end)) : null,
    );
  }

  /** Gives the weights values, of which there may be more than these. */
  write(values: Float32Array): void {
    for (const [i, { start, end }] of this.#segments.entries()) {
      tf.tidy(() => this.variables[i].assign(tf.tensor1d(values.slice(start, end))));
    }
  }

  /** The weights now, shape `[S]`; valid until the next call. */
  async read(): Promise<Float32Array<ArrayBuffer>> {
    for (const [i, { start }] of this.#segments.entries()) this.#values.set(await valuesOf(this.variables[i]), start);
    return this.#values;
  }
}
