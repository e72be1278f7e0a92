import type { NamedTensor } from '../../../core/safetensors/safetensors.ts';
import { tf, type Variable } from '../../tensorflow/tf.ts';

/** Keeps arrays, such as an optimizer's slots, between two updates. */
export interface SlotStorage {
  /** Adds a slot of zeros. */
  add(name: string, shape: number[]): void;
  /** A slot's values, float32, for an update. */
  open(name: string): Variable;
  /** Keeps a slot's values after its update number `step`, and frees what {@link open} made. */
  close(name: string, values: Variable, step: number): void;
  /** Frees what {@link open} made, where nothing changed. */
  discard(values: Variable): void;
  /** What the backend holds between two updates, by name. The storage owns it. */
  readonly tensors: ReadonlyMap<string, Variable>;
  /** What lies elsewhere. */
  readonly files?: SlotFiles;
}

/** Slots outside of the memory of the process. */
export interface SlotFiles {
  /** Present values, in the form that {@link SlotStorage.tensors} would have. */
  read(): NamedTensor[];
  write(tensors: readonly NamedTensor[], source: string): void;
}

/** Sets a slot's values, which its storage can hold exactly. */
export function assignSlot(storage: SlotStorage, name: string, values: Float32Array): void {
  const slot = storage.open(name);
  tf.tidy(() => slot.assign(tf.tensor(values, slot.shape)));
  storage.close(name, slot, 0);
}

/** Slots as float32 tensors. */
export class TensorSlots implements SlotStorage {
  readonly tensors = new Map<string, Variable>();

  add(name: string, shape: number[]): void {
    this.tensors.set(name, zeros(shape, 'float32'));
  }

  open(name: string): Variable {
    return slotIn(this.tensors, name);
  }

  close(): void {}

  discard(): void {}
}

/** A variable of zeros, outside of the current `tidy`. */
export function zeros(shape: number[], dtype: 'float32' | 'int32'): Variable {
  return tf.tidy(() => tf.variable(tf.zeros(shape, dtype), false));
}

/** @throws Error if there is no such slot */
export function slotIn<T>(slots: ReadonlyMap<string, T>, name: string): T {
  const slot = slots.get(name);
  if (slot === undefined) throw new Error(`The optimizer has no slot "${name}".`);
  return slot;
}
