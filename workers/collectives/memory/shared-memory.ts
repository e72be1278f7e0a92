import { ftruncateSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { bytesPerElement, createArray, dataTypeOf } from '../../../core/protocol/wire/arrays.ts';
import type { CollectiveArray, CollectiveCall } from '../../../core/protocol/wire/collectives.ts';
import { elementCount } from '../../../core/protocol/wire/collectives.ts';
import { type Libc, loadLibc, type Mapping } from '../../system/libc.ts';
import { growFile } from './grow-file.ts';
import { barrierBytes, MappedBarrier } from './mapped-barrier.ts';
import type { Parts } from '../parts.ts';
import { pieceBytes, Pieces } from './pieces.ts';
import { SlotFile } from './slot-file.ts';

/** Below this a second request through the hub costs more than the copies it saves. */
const smallestBytes = 256 * 1024;

export interface SharedMemoryOptions {
  /** Told once, by every rank, how large arrays go from now on. */
  tell?: (message: string) => void;
  /** Whether files may be mapped. */
  mayMap?: boolean;
  /** How long a rank may be waited for in mapped memory; without it, a minute. */
  timeoutMs?: number;
}

/** The memory that ranks share where the run's folder lies in memory; null elsewhere. */
export function sharedMemoryIn(
  folder: string,
  rank: number,
  ranks: readonly number[],
  options: SharedMemoryOptions = {},
): SharedMemory | null {
  return folder.startsWith('/dev/shm/') ? new SharedMemory(folder, rank, ranks, options) : null;
}

/** Areas begin at multiples of a page, and so at whole elements. */
const areaBytes = (bytes: number): number => Math.ceil(bytes / 4096) * 4096;
const fileBytes = (capacity: number): number => barrierBytes + 2 * areaBytes(capacity);

/** First element of the i-th of `count` slices, as equal as can be, of an array of `length` elements. */
const sliceStart = (length: number, count: number, index: number): number => Math.floor((length * index) / count);

/**
 * Large arrays between ranks of one machine: each rank has a file in memory, which it alone writes and all read. Where koffi can be had the
 * files are mapped, and a {@link MappedBarrier} says when who may read what; else they are read and written, and the hub's relay says
 * it (`collectiveStages`). This class moves the bytes.
 *
 * A file has a page for the barrier and two areas, used in turn. When a rank writes one, every rank has called the collective before, and so has read what the
 * area held. For that a rank must not make a large call while an earlier one is under way.
 */
export class SharedMemory {
  readonly #folder: string;
  readonly #rank: number;
  readonly #ranks: readonly number[];
  readonly #options: SharedMemoryOptions;
  readonly #files = new Map<number, number>();
  /** Of all ranks' files, where they are mapped. Those of before a file grew stay mapped: they take no memory beside it. */
  #mappings: Map<number, Mapping> | null = null;
  #libc: Libc | null = null;
  #pieces: Pieces | null = null;
  #barrier: MappedBarrier | null = null;
  #hasTold = false;
  #isLinked = true;
  /** Bytes of an area, the same on all ranks. */
  #capacity = 0;
  /** What did not fit on some rank; larger arrays go another way. */
  #refusedBytes = Infinity;
  #area = 0;

  constructor(folder: string, rank: number, ranks: readonly number[], options: SharedMemoryOptions = {}) {
    this.#folder = folder;
    this.#rank = rank;
    this.#ranks = ranks;
    this.#options = options;
  }

  /** Where ranks wait for each other; null where the relay has them do so. */
  get barrier(): MappedBarrier | null {
    return this.#barrier;
  }

  get timeoutMs(): number {
    return this.#options.timeoutMs ?? 60_000;
  }

  /** Which of the two areas the collective under way has. */
  get area(): number {
    return this.#area;
  }

  /** Whether this call's arrays are exchanged here. All ranks give the same answer. */
  takes({ operation, reduce, dataType, shape }: CollectiveCall): boolean {
    const bytes = elementCount(shape) * bytesPerElement(dataType);
    // Sums of integers may fail, which the relay then tells all ranks.
    const isSafe = reduce === null || (dataType !== 'int32' && dataType !== 'uint8');
    const isOfAll = operation !== 'barrier' && operation !== 'shift';
    return isOfAll && isSafe && bytes >= smallestBytes && bytes < this.#refusedBytes;
  }

  hasRoom(bytes: number): boolean {
    return bytes <= this.#capacity;
  }

  /** Makes this rank's file large enough, if the memory is there. Whether all ranks did is theirs to agree on. */
  reserve(bytes: number): boolean {
    const file = this.#files.get(this.#rank) ?? openSync(this.#path(this.#rank), 'wx+', 0o600);
    this.#files.set(this.#rank, file);
    return growFile(file, this.#folder, this.#capacity === 0 ? 0 : fileBytes(this.#capacity), fileBytes(bytes));
  }

  /** Loads what large arrays need, once there are any: it takes some 20 ms. Gives whether this rank can map files. */
  async prepare(): Promise<boolean> {
    this.#pieces ??= await Pieces.create(this.#ranks.length);
    const libc = await this.#loadLibc();
    return libc !== null && libc.futex !== null;
  }

  /** The file for small arrays; null where this rank cannot map it, or there is no room. */
  async createSlotFile(): Promise<SlotFile | null> {
    const libc = await this.#loadLibc();
    const [folder, rank, ranks] = [this.#folder, this.#rank, this.#ranks];
    return libc === null ? null : SlotFile.create({ folder, rank, ranks }, libc);
  }

  async #loadLibc(): Promise<Libc | null> {
    if (this.#options.mayMap === false) return null;
    try {
      this.#libc ??= await loadLibc();
      return this.#libc;
    } catch {
      return null; // Not installed, or not for this system: files do as well, and what is used is told.
    }
  }

  /** Some rank has no room: what was reserved is given back. */
  refuse(bytes: number): void {
    this.#refusedBytes = bytes;
    ftruncateSync(this.#fileOf(this.#rank), this.#capacity === 0 ? 0 : fileBytes(this.#capacity));
    this.#tellOnce('the hub: there is no room for them in /dev/shm');
  }

  /** Every rank has room, and all can map files or none shall. */
  settle(bytes: number, everyRankMaps: boolean): void {
    this.#capacity = areaBytes(bytes);
    for (const rank of this.#ranks) this.#fileOf(rank);
    if (everyRankMaps && this.#libc !== null && this.#libc.futex !== null) this.#map(this.#libc, this.#libc.futex);
    this.#tellOnce(this.#barrier === null ? 'files in /dev/shm' : 'mapped memory');
  }

  #map(libc: Libc, futex: NonNullable<Libc['futex']>): void {
    const mappingOf = (rank: number): Mapping =>
      libc.map(this.#fileOf(rank), fileBytes(this.#capacity), rank === this.#rank ? 'shared' : 'read');
    const own = mappingOf(this.#rank);
    const others = this.#ranks.filter((rank) => rank !== this.#rank).map((rank) => [rank, mappingOf(rank)] as const);
    this.#mappings = new Map([[this.#rank, own], ...others]);
    this.#barrier = new MappedBarrier(futex, own, new Map(others));
  }

  #tellOnce(how: string): void {
    if (!this.#hasTold) this.#options.tell?.(`Arrays of 256 KiB and more go through ${how}.`);
    this.#hasTold = true;
  }

  /** All ranks have opened this rank's file, which therefore needs no name: what has none is gone with its processes. */
  unlink(): void {
    if (this.#isLinked) unlinkSync(this.#path(this.#rank));
    this.#isLinked = false;
  }

  /** Begins the next collective, on all ranks: it takes the other area. */
  turn(): void {
    this.#area = 1 - this.#area;
  }

  /** Puts this rank's array where the others can read it; of one to be reduced, what they will. */
  write(array: Parts, call: CollectiveCall): void {
    const [start, end] = call.reduce === null ? [0, 0] : this.#sliceOf(this.#rank, call);
    this.#writeAll(array.views(0, start), 0);
    this.#writeAll(array.views(end), end * bytesPerElement(call.dataType));
  }

  /** What one rank wrote. */
  read(rank: number, call: CollectiveCall): CollectiveArray {
    const array = createArray(call.dataType, elementCount(call.shape));
    this.#fill(rank, array, 0);
    return array;
  }

  /** What all ranks wrote, in their order, as one array. */
  readAll(call: CollectiveCall): CollectiveArray {
    const length = elementCount(call.shape);
    const whole = createArray(call.dataType, length * this.#ranks.length);
    this.#ranks.forEach((rank, i) => this.#fill(rank, whole.subarray(i * length, (i + 1) * length), 0));
    return whole;
  }

  /**
   * This rank's slice of the combined array, into `target` from `targetStart` on: `reduceArrays` over the ranks in their order, in pieces that stay in
   * the processor's cache. `own` is what this rank brought. For an all-reduce, others can read the slice in the place of what this rank wrote
   * there, which nobody else reads.
   */
  reduceOwnSlice(call: CollectiveCall, own: Parts, target: Parts, targetStart: number): void {
    if (call.reduce === null) throw new TypeError(`${call.operation} was called without a reduce operation.`);
    const [first, end] = this.#sliceOf(this.#rank, call);
    const elementBytes = bytesPerElement(call.dataType);
    const pieceLength = pieceBytes / elementBytes;
    const pieces = this.#pieces;
    if (pieces === null) throw new Error('Shared memory was not prepared: call prepare before the first collective.');
    for (let start = first; start < end; start += pieceLength) {
      const length = Math.min(pieceLength, end - start);
      const operands = this.#ranks.map((rank, i) => {
        const piece = pieces.at(i, call.dataType, length);
        if (rank === this.#rank) own.copyTo(piece, start);
        else this.#fill(rank, piece, start * elementBytes);
        return piece;
      });
      const reduced = pieces.reduce(operands, call.reduce);
      target.set(reduced, targetStart + start - first);
      if (call.operation === 'all-reduce') this.#writeAll([reduced], start * elementBytes);
    }
  }

  /** First element of the slice that {@link reduceOwnSlice} gives. */
  ownSliceStart(call: CollectiveCall): number {
    return this.#sliceOf(this.#rank, call)[0];
  }

  /** Fills in the slices that the other ranks reduced. */
  readOtherSlices(whole: Parts, call: CollectiveCall): void {
    for (const rank of this.#ranks.filter((other) => other !== this.#rank)) {
      const [start, end] = this.#sliceOf(rank, call);
      let offset = start * bytesPerElement(call.dataType);
      for (const view of whole.views(start, end)) {
        this.#fill(rank, view, offset);
        offset += view.byteLength;
      }
    }
  }

  #sliceOf(rank: number, { shape }: CollectiveCall): [number, number] {
    const length = elementCount(shape);
    const position = this.#ranks.indexOf(rank);
    const { length: count } = this.#ranks;
    return [sliceStart(length, count, position), sliceStart(length, count, position + 1)];
  }

  #fill(rank: number, target: CollectiveArray, offset: number): void {
    const bytes = new Uint8Array(target.buffer, target.byteOffset, target.byteLength);
    const mapping = this.#mappings?.get(rank);
    if (mapping !== undefined) {
      bytes.set(new Uint8Array(mapping.buffer, this.#areaStart + offset, bytes.length));
      return;
    }
    for (let done = 0; done < bytes.length;) {
      const count = readSync(this.#fileOf(rank), bytes, done, bytes.length - done, this.#areaStart + offset + done);
      if (count === 0)
        throw new Error(`${this.#path(rank)} ends before the ${dataTypeOf(target)} that rank ${rank} wrote.`);
      done += count;
    }
  }

  /** Writes arrays one after the other. */
  #writeAll(arrays: readonly CollectiveArray[], offset: number): void {
    let end = offset;
    for (const array of arrays) {
      this.#writeAt(array, end);
      end += array.byteLength;
    }
  }

  #writeAt(array: CollectiveArray, offset: number): void {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    const mapping = this.#mappings?.get(this.#rank);
    if (mapping !== undefined) {
      new Uint8Array(mapping.buffer, this.#areaStart + offset, bytes.length).set(bytes);
      return;
    }
    for (let done = 0; done < bytes.length;) {
      done += writeSync(this.#fileOf(this.#rank), bytes, done, bytes.length - done, this.#areaStart + offset + done);
    }
  }

  get #areaStart(): number {
    return barrierBytes + this.#area * this.#capacity;
  }

  #fileOf(rank: number): number {
    const open = this.#files.get(rank);
    if (open !== undefined) return open;
    const file = openSync(this.#path(rank), 'r');
    this.#files.set(rank, file);
    return file;
  }

  #path(rank: number): string {
    return join(this.#folder, `collective-${rank}.bin`);
  }
}
