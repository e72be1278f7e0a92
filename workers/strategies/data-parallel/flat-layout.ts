import { tf, type Tensor, type Variable } from '../../tf.ts';
import type { Gradient } from '../../training/member.ts';

/** Where tensors lie in one flat array, one after the other in their order: shape `[P]` for P scalars in all. */
export class FlatLayout {
  /** P, the scalars in all tensors. */
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

  /** Writes the tensors' values into `flat`. */
  async read(tensors: readonly Tensor[], flat: Float32Array): Promise<void> {
    const values = await Promise.all(tensors.map((tensor) => tensor.data()));
    values.forEach((own, i) => flat.set(own, this.#offsets[i]));
  }

  /** flat ← flat + weight · gradients; a gradient that is null adds nothing. */
  async addGradients(gradients: readonly Gradient[], weight: number, flat: Float32Array): Promise<void> {
    for (const [i, gradient] of gradients.entries()) {
      if (gradient === null) continue;
      const own = await gradient.data();
      const offset = this.#offsets[i];
      for (let j = 0; j < own.length; j++) flat[offset + j] += weight * own[j];
    }
  }

  /** New tensors of the values; the caller disposes of them. */
  toTensors(flat: Float32Array): Tensor[] {
    return this.#shapes.map((shape, i) => tf.tensor(this.#slice(flat, i), [...shape]));
  }

  /** Gives the variables the values. */
  write(flat: Float32Array, variables: readonly Variable[]): void {
    tf.tidy(() => this.toTensors(flat).forEach((tensor, i) => variables[i].assign(tensor)));
  }

  #slice(flat: Float32Array, i: number): Float32Array {
    return flat.slice(this.#offsets[i], this.#offsets[i] + this.#sizes[i]);
  }
}
