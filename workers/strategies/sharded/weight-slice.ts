import { valuesOf } from '../../tensorflow/tensor-values.ts';
import { tf, type Variable } from '../../tensorflow/tf.ts';
import type { UpdatedArrays } from '../../optimizers/optimizer.ts';
import { type SlotStorage, TensorSlots } from '../../optimizers/slots/slot-storage.ts';
import type { Gradient } from '../../member/member.ts';
import type { Segment } from '../data-parallel/flat-layout.ts';

/**
 * A rank's slice of all trained weights, shape `[S]`, with one array for each tensor, or part of one, in it: an
 * optimizer counts the updates of each tensor separately, as a step's loss may not depend on all of them. Padding
 * belongs to no tensor.
 */
export class WeightSlice implements UpdatedArrays {
  readonly shapes: readonly number[][];
  /** The tensor, or part of one, of each array. */
  readonly segments: readonly Segment[];
  /** The storage of the arrays, by name. */
  readonly storage: SlotStorage;

  /** @param values of the slice, shape `[S]`. @param storage keeps them between two uses */
  constructor(values: Float32Array, segments: readonly Segment[], storage: SlotStorage = new TensorSlots()) {
    this.segments = segments;
    this.shapes = segments.map(({ start, end }) => [end - start]);
    this.storage = storage;
    this.shapes.forEach((shape, i) => storage.add(nameOf(i), shape));
    this.write(values, 0);
  }

  /** The arrays by name, for states. */
  get tensors(): ReadonlyMap<string, Variable> {
    return this.storage.tensors;
  }

  open(index: number): Variable {
    return this.storage.open(nameOf(index));
  }

  close(index: number, values: Variable, step: number): void {
    this.storage.close(nameOf(index), values, step);
  }

  discard(values: Variable): void {
    this.storage.discard(values);
  }

  /**
   * Gradients for an optimizer of these arrays; the caller disposes of them.
   *
   * @param flat the slice's mean gradient, shape `[S]`, which must not change until then
   * @param isReached for each of the model's variables
   */
  toGradients(flat: Float32Array, isReached: readonly boolean[]): Gradient[] {
    return this.segments.map(({ tensor, start, end }) =>
      isReached[tensor] ? tf.tensor1d(flat.subarray(start, end)) : null,
    );
  }

  /**
   * Assigns values to the weights from element `from` on. No tensor, or part of one, may begin before `from` and end
   * after it.
   */
  write(values: Float32Array, from: number): void {
    for (const [i, { start, end }] of this.segments.entries()) {
      if (start < from || end > from + values.length) continue;
      const own = this.open(i);
      tf.tidy(() => own.assign(tf.tensor1d(values.slice(start - from, end - from))));
      this.close(i, own, 0);
    }
  }

  /** Writes the current weights from element `from` on, with zeros for padding, into `values`. */
  async read(from: number, values: Float32Array): Promise<void> {
    const to = from + values.length;
    values.fill(0);
    for (const [i, { start, end }] of this.segments.entries()) {
      if (start < from || end > to) continue;
      const own = this.open(i);
      values.set(await valuesOf(own), start - from);
      this.discard(own);
    }
  }
}

function nameOf(index: number): string {
  return `slice.${index}`;
}
