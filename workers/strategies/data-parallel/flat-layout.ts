import { valuesOf } from '../../tensorflow/tensor-values.ts';
import { tf, type Tensor, type Variable } from '../../tensorflow/tf.ts';
import type { Gradient } from '../../member/member.ts';

/** A tensor, or a part of one, in a slice of the flat array. */
export interface Segment {
  /** The tensor's index. */
  tensor: number;
  /** First element, relative to the slice. */
  start: number;
  /** Element after the last. */
  end: number;
  /** The first element's place in the tensor. */
  first: number;
}

/** The layout of tensors in one flat array, one after the other: shape `[P]` for P scalars in total. */
export class FlatLayout {
  /** P, the number of scalars in all tensors. */
  readonly length: number;
  readonly #shapes: readonly (readonly number[])[];
  readonly #offsets: readonly number[];
  readonly #sizes: readonly number[];

  constructor(tensors: readonly Tensor[]) {
    this.#shapes = tensors.map(({ shape }) => shape);
    this.#sizes = tensors.map(({ size }) => size);
    this.#offsets = this.#sizes.map((_, i) => this.#sizes.slice(0, i).reduce((sum, size) => sum + size, 0));
    this.length = this.#sizes.reduce((sum, size) => sum + size, 0);
  }

  get tensorCount(): number {
    return this.#sizes.length;
  }

  /** The tensors, or parts of them, between two elements of the flat array. */
  segments(from: number, to: number): Segment[] {
    return this.#sizes.flatMap((size, tensor) => {
      const start = Math.max(this.#offsets[tensor], from);
      const end = Math.min(this.#offsets[tensor] + size, to);
      const first = start - this.#offsets[tensor];
      return start < end ? [{ tensor, start: start - from, end: end - from, first }] : [];
    });
  }

  /** Writes the tensors' values into `flat`. */
  async read(tensors: readonly Tensor[], flat: Float32Array): Promise<void> {
    for (const [i, tensor] of tensors.entries()) flat.set(await valuesOf(tensor), this.#offsets[i]);
  }

  /** flat ← weight · gradients; zeros for a gradient that is null. */
  async readGradients(gradients: readonly Gradient[], weight: number, flat: Float32Array): Promise<void> {
    for (const [i, gradient] of gradients.entries()) {
      const target = this.#part(flat, i);
      if (gradient === null) target.fill(0);
      else target.set(await valuesOf(gradient));
      if (weight !== 1) for (let j = 0; j < target.length; j++) target[j] *= weight;
    }
  }

  /** flat ← flat + weight · gradients; a gradient that is null adds nothing. */
  async addGradients(gradients: readonly Gradient[], weight: number, flat: Float32Array): Promise<void> {
    for (const [i, gradient] of gradients.entries()) {
      if (gradient === null) continue;
      const own = await valuesOf(gradient);
      const offset = this.#offsets[i];
      for (let j = 0; j < own.length; j++) flat[offset + j] += weight * own[j];
    }
  }

  /** New tensors of the values. Some backends do not copy them: dispose of the tensors before `flat` changes. */
  toTensors(flat: Float32Array): Tensor[] {
    return this.#shapes.map((shape, i) => tf.tensor(this.#part(flat, i), [...shape]));
  }

  /** Assigns the values to the variables. */
  write(flat: Float32Array, variables: readonly Variable[]): void {
    // Only wasm copies at once: on other backends a variable may keep the array itself.
    const own = tf.getBackend() === 'wasm' ? flat : flat.slice();
    // One after the other, so that there is one copy of one tensor at a time.
    variables.forEach((variable, i) =>
      tf.tidy(() => variable.assign(tf.tensor(this.#part(own, i), [...this.#shapes[i]]))),
    );
  }

  #part(flat: Float32Array, i: number): Float32Array {
    return flat.subarray(this.#offsets[i], this.#offsets[i] + this.#sizes[i]);
  }
}
