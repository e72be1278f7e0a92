import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { packedLength } from '../../../core/compression/stochastic-rounding.ts';
import type { NamedTensor } from '../../../core/safetensors/safetensors.ts';
import { viewOf } from '../../tensorflow/tensor-values.ts';
import { tf, type Variable } from '../../tensorflow/tf.ts';
import type { Packing } from './packing.ts';
import { slotIn, type SlotFiles, type SlotStorage, zeros } from './slot-storage.ts';

/** A slot's place in the file. */
interface Place {
  shape: number[];
  /** What the file holds: the values, or packed bfloat16. */
  storedShape: number[];
  offset: number;
}

const noTensors: ReadonlyMap<string, Variable> = new Map();
const blockBytes = 2 ** 20;

/**
 * Slots in one file: an update reads those of one variable into the backend's memory, and writes them back, as
 * ZeRO-Offload and ZeRO-Infinity do (Rajbhandari et al., 2021). The system keeps in its cache what has room there. The
 * file is read and written, not mapped: a mapped page counts as memory of the process, and a write to one kills the
 * process where the disk is full, while this reports it. The file has no name once it is open, so that its space is
 * free when the process ends, however it does.
 */
export class FileSlots implements SlotStorage {
  readonly tensors = noTensors;
  readonly files: SlotFiles = {
    read: () => [...this.#places].map(([name, place]) => this.#stored(name, place)),
    write: (tensors, source) => this.#restore(tensors, source),
  };
  readonly #folder: string;
  readonly #file: number;
  readonly #places = new Map<string, Place>();
  /** Null for float32. */
  readonly #packing: Packing | null;
  #length = 0;

  /** @param folder on a disk. @param packing null: float32 */
  constructor(folder: string, packing: Packing | null) {
    this.#folder = folder;
    this.#packing = packing;
    const path = join(folder, `optimizer-${process.pid}-${FileSlots.#count++}.bin`);
    this.#file = openSync(path, 'wx+', 0o600);
    // Windows keeps an open file; the run's end removes its folder.
    if (process.platform !== 'win32') rmSync(path);
  }

  static #count = 0;

  add(name: string, shape: number[]): void {
    const storedShape = this.#packing === null ? shape : [packedLength(tf.util.sizeFromShape(shape))];
    const place = { shape, storedShape, offset: this.#length };
    this.#places.set(name, place);
    this.#length += bytesOf(place);
    // Zeros, not a hole: a disk without room is known before the first step.
    const block = new Uint8Array(Math.min(blockBytes, bytesOf(place)));
    for (let at = place.offset; at < this.#length; at += block.length) {
      this.#write(block.subarray(0, this.#length - at), at);
    }
  }

  open(name: string): Variable {
    const place = slotIn(this.#places, name);
    const stored = zeros(place.storedShape, this.#packing === null ? 'float32' : 'int32');
    this.#readInto(stored, place);
    if (this.#packing === null) return stored;
    const values = this.#packing.unpack(stored, place.shape);
    stored.dispose();
    return values;
  }

  close(name: string, values: Variable, step: number): void {
    const place = slotIn(this.#places, name);
    if (this.#packing === null) this.#writeFrom(values, place);
    else {
      const words = this.#packing.create(place.shape);
      this.#packing.pack(name, step, values, words);
      this.#writeFrom(words, place);
      words.dispose();
    }
    values.dispose();
  }

  discard(values: Variable): void {
    values.dispose();
  }

  /** Frees the file. */
  dispose(): void {
    closeSync(this.#file);
  }

  #readInto(stored: Variable, place: Place): void {
    const view = viewOf(stored);
    const bytes = view === null ? new Uint8Array(bytesOf(place)) : bytesIn(view);
    this.#read(bytes, place.offset);
    if (view !== null) return;
    const values = stored.dtype === 'int32' ? new Int32Array(bytes.buffer) : new Float32Array(bytes.buffer);
    tf.tidy(() => stored.assign(tf.tensor(values, place.storedShape, stored.dtype)));
  }

  #writeFrom(stored: Variable, { offset }: Place): void {
    this.#write(bytesIn(viewOf(stored) ?? stored.dataSync<'float32'>()), offset);
  }

  #stored(name: string, place: Place): NamedTensor {
    const { buffer } = this.#read(new Uint8Array(bytesOf(place)), place.offset);
    const shape = place.storedShape;
    return this.#packing === null
      ? { name, dtype: 'F32', shape, data: new Float32Array(buffer) }
      : { name, dtype: 'I32', shape, data: new Int32Array(buffer) };
  }

  #restore(tensors: readonly NamedTensor[], source: string): void {
    const names = [...this.#places.keys()];
    const found = tensors.map(({ name }) => name);
    const fits = tensors.every(({ name, shape }) => this.#places.get(name)?.storedShape.join() === shape.join());
    if (!fits || names.length !== found.length) {
      throw new Error(`${source} does not fit: it has ${found.join(', ')} in other shapes than ${names.join(', ')}.`);
    }
    for (const { name, data } of tensors) {
      this.#write(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), slotIn(this.#places, name).offset);
    }
  }

  #read(bytes: Uint8Array<ArrayBuffer>, from: number): Uint8Array<ArrayBuffer> {
    for (let done = 0; done < bytes.length;) {
      const count = readSync(this.#file, bytes, done, bytes.length - done, from + done);
      if (count === 0)
        throw new Error(`The file of the optimizer's state in ${this.#folder} ends at byte ${from + done}.`);
      done += count;
    }
    return bytes;
  }

  #write(bytes: Uint8Array, to: number): void {
    try {
      for (let done = 0; done < bytes.length;) {
        done += writeSync(this.#file, bytes, done, bytes.length - done, to + done);
      }
    } catch (error) {
      throw new Error(
        `The optimizer's state, ${this.#length} bytes, cannot be written to a file in ${this.#folder}. Free ` +
          'space on that disk, or use --strategy.offload none.',
        { cause: error },
      );
    }
  }
}

function bytesOf({ storedShape }: Place): number {
  return 4 * tf.util.sizeFromShape(storedShape);
}

function bytesIn({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}
