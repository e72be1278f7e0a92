import type { OptimizerConfig } from '../../../core/protocol/run/config.ts';
import { tf, type Variable } from '../../tensorflow/tf.ts';
import { Packing } from './packing.ts';
import { slotIn, type SlotStorage, TensorSlots } from './slot-storage.ts';

/** Slots as packed bfloat16, rounded stochastically. An update unpacks those of one variable. */
export class Bfloat16Slots implements SlotStorage {
  readonly tensors = new Map<string, Variable>();
  readonly #shapes = new Map<string, number[]>();
  readonly #packing: Packing;

  constructor(seed: number) {
    this.#packing = new Packing(seed);
  }

  add(name: string, shape: number[]): void {
    this.#shapes.set(name, shape);
    this.tensors.set(name, this.#packing.create(shape));
  }

  open(name: string): Variable {
    return this.#packing.unpack(slotIn(this.tensors, name), slotIn(this.#shapes, name));
  }

  close(name: string, values: Variable, step: number): void {
    this.#packing.pack(name, step, values, slotIn(this.tensors, name));
    values.dispose();
  }

  discard(values: Variable): void {
    values.dispose();
  }
}

/**
 * Slots in the backend's memory.
 * @param seed of the rounding's random numbers, the same on ranks that must keep equal slots
 * @throws Error if the backend's tensors lie elsewhere, where nothing packs them
 */
export function slotStorageOf(precision: OptimizerConfig['statePrecision'], seed: number): SlotStorage {
  if (precision === 'float32') return new TensorSlots();
  const backend = tf.getBackend();
  if (backend === 'wasm' || backend === 'cpu') return new Bfloat16Slots(seed);
  throw new Error(
    `The ${backend} backend has no kernel that packs an optimizer's state to bfloat16. Use ` +
      '--optimizer.state-precision float32, or --backend wasm.',
  );
}
