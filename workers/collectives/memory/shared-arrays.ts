import { bytesPerElement, createArray } from '../../../core/protocol/wire/arrays.ts';
import { type CollectiveArray, type CollectiveCall, elementCount } from '../../../core/protocol/wire/collectives.ts';
import type { Parts } from '../parts.ts';
import { pieceBytes } from './pieces.ts';
import type { SharedMemory } from './shared-memory.ts';

/** First element of the i-th of `count` slices, as equal as possible, of an array of `length` elements. */
const sliceStart = (length: number, count: number, index: number): number => Math.floor((length * index) / count);

/** The arrays of a collective in {@link SharedMemory}: whole, or in slices of which each rank reduces one. */
export class SharedArrays {
  readonly #memory: SharedMemory;
  readonly #rank: number;
  readonly #ranks: readonly number[];

  constructor(memory: SharedMemory) {
    this.#memory = memory;
    this.#rank = memory.rank;
    this.#ranks = memory.ranks;
  }

  /** Puts this rank's array where the others can read it; of an array to be reduced, only the slices of other ranks. */
  write(array: Parts, call: CollectiveCall): void {
    const [start, end] = call.reduce === null ? [0, 0] : this.#sliceOf(this.#rank, call);
    this.#memory.write(array.views(0, start), 0);
    this.#memory.write(array.views(end), end * bytesPerElement(call.dataType));
  }

  /** The array that one rank wrote. */
  read(rank: number, call: CollectiveCall): CollectiveArray {
    const array = createArray(call.dataType, elementCount(call.shape));
    this.#memory.read(rank, array, 0);
    return array;
  }

  /** Reads the arrays that all ranks wrote, in rank order, one after the other. @param whole M times as long as each */
  readAll(call: CollectiveCall, whole: Parts): void {
    const length = elementCount(call.shape);
    this.#ranks.forEach((rank, i) => this.#readTo(whole.views(i * length, (i + 1) * length), rank, 0));
  }

  /**
   * Writes this rank's slice of the combined array to `target`, from `targetStart` on: `reduceArrays` over the ranks in their
   * order, in pieces that stay in the processor's cache. In an all-reduce, other ranks then read the slice where this rank
   * wrote its array, a part that they do not read otherwise.
   * @param own this rank's array
   */
  reduceOwnSlice(call: CollectiveCall, own: Parts, target: Parts, targetStart: number): void {
    if (call.reduce === null) throw new TypeError(`${call.operation} was called without a reduce operation.`);
    const [first, end] = this.#sliceOf(this.#rank, call);
    const elementBytes = bytesPerElement(call.dataType);
    const pieceLength = pieceBytes / elementBytes;
    const { pieces } = this.#memory;
    for (let start = first; start < end; start += pieceLength) {
      const length = Math.min(pieceLength, end - start);
      const operands = this.#ranks.map((rank, i) => {
        const piece = pieces.at(i, call.dataType, length);
        if (rank === this.#rank) own.copyTo(piece, start);
        else this.#memory.read(rank, piece, start * elementBytes);
        return piece;
      });
      const reduced = pieces.reduce(operands, call.reduce);
      target.set(reduced, targetStart + start - first);
      if (call.operation === 'all-reduce') this.#memory.write([reduced], start * elementBytes);
    }
  }

  /** First element of the slice that {@link reduceOwnSlice} computes. */
  ownSliceStart(call: CollectiveCall): number {
    return this.#sliceOf(this.#rank, call)[0];
  }

  /** Fills in the slices that the other ranks reduced. */
  readOtherSlices(whole: Parts, call: CollectiveCall): void {
    for (const rank of this.#ranks.filter((other) => other !== this.#rank)) {
      const [start, end] = this.#sliceOf(rank, call);
      this.#readTo(whole.views(start, end), rank, start * bytesPerElement(call.dataType));
    }
  }

  /** Fills arrays, one after the other, with what a rank wrote. @param offset in bytes */
  #readTo(views: readonly CollectiveArray[], rank: number, offset: number): void {
    let from = offset;
    for (const view of views) {
      this.#memory.read(rank, view, from);
      from += view.byteLength;
    }
  }

  #sliceOf(rank: number, { shape }: CollectiveCall): [number, number] {
    const length = elementCount(shape);
    const position = this.#ranks.indexOf(rank);
    const { length: count } = this.#ranks;
    return [sliceStart(length, count, position), sliceStart(length, count, position + 1)];
  }
}
