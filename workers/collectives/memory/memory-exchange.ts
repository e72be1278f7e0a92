import { crc32 } from 'node:zlib';
import { RunningTime } from '../../../core/node/time-limit.ts';
import { bytesPerElement, createArray } from '../../../core/protocol/wire/arrays.ts';
import { mayFollow } from '../../../core/protocol/wire/collective-stages.ts';
import {
  type CollectiveArray,
  type CollectiveCall,
  describeCall,
  elementCount,
} from '../../../core/protocol/wire/collectives.ts';
import { Parts } from '../parts.ts';
import type { SharedMemory } from './shared-memory.ts';
import { pieceBytes } from './pieces.ts';

/** Sends a request to the hub's relay and resolves to the answer. */
export type Request = (call: CollectiveCall, data: CollectiveArray | null) => Promise<CollectiveArray | null>;

/** Waits for all ranks. */
type Meet = (stage: 'written' | 'reduced') => Promise<unknown>;

/** A rank's array for a collective, and where to write the result; null: to a new array. */
export interface Operands {
  data: Parts | null;
  into: Parts | null;
}

/**
 * Collectives of large arrays through memory that the ranks share. The relay only synchronises the ranks
 * (`collective-stages.ts`). Where a barrier in mapped memory does so, ranks still tell the relay what they call: it
 * detects ranks that disagree or never come.
 */
export class MemoryExchange {
  readonly #memory: SharedMemory;
  readonly #arrays: SharedArrays;
  readonly #rank: number;
  readonly #worldSize: number;
  /** The current collective: one at a time. */
  #open: CollectiveCall | null = null;

  constructor(memory: SharedMemory, rank: number, worldSize: number) {
    this.#memory = memory;
    this.#arrays = new SharedArrays(memory);
    this.#rank = rank;
    this.#worldSize = worldSize;
  }

  takes(call: CollectiveCall): boolean {
    return this.#memory.takes(call);
  }

  /**
   * This rank's result; null where there is none, or it was written to `operands.into`. Sends the first request
   * synchronously, so that calls keep their order.
   */
  async run(call: CollectiveCall, operands: Operands, send: Request): Promise<CollectiveArray | null> {
    if (this.#open !== null) {
      throw new Error(
        `${describeCall(call)} was called on rank ${this.#rank} before ${describeCall(this.#open)} had ended: with ` +
          'large arrays, await one collective before the next.',
      );
    }
    this.#open = call;
    const request = inStages(send);
    const bytes = elementCount(call.shape) * bytesPerElement(call.dataType);
    const hasRoom = this.#memory.hasRoom(bytes) || (await this.#agreeOnRoom(call.sequence, bytes, request));
    const answer = hasRoom
      ? await this.#exchange(call, operands, request)
      : await request(call, operands.data?.whole() ?? null);
    this.#open = null;
    return answer;
  }

  async #exchange(call: CollectiveCall, operands: Operands, request: Request): Promise<CollectiveArray | null> {
    const { data } = operands;
    this.#memory.turn();
    const meet = this.#meeting(call, request);
    if (data !== null) this.#arrays.write(data, call);
    await meet('written');
    this.#memory.unlink();
    if (call.operation === 'all-gather') return this.#allGather(call, operands.into);
    if (data !== null && call.operation === 'all-reduce') return this.#allReduce(call, data, operands.into, meet);
    if (data !== null && call.operation === 'reduce-scatter') return this.#reduceScatter(call, data, operands.into);
    return call.root === null || call.root === this.#rank ? null : this.#arrays.read(call.root, call);
  }

  /** The wait until all ranks have come as far as this one: through the relay, or in mapped memory. */
  #meeting(call: CollectiveCall, request: Request): Meet {
    const { barrier, area } = this.#memory;
    if (barrier === null) return (stage) => request({ ...call, stage }, null);
    let failure: Error | null = null;
    let isBegun = false;
    const begun = request({ ...call, stage: 'mapped' }, null)
      .then(() => void (isBegun = true))
      .catch((error: Error) => {
        failure = error;
      });
    barrier.announce(crc32(describeCall(call)), area);
    return async (stage) => {
      const waited = new RunningTime();
      await barrier.meet(async (awaited) => {
        if (failure !== null) throw failure;
        // Until all ranks have begun, the relay itself sees who does not come.
        const waitedMs = waited.read();
        if (!isBegun || waitedMs < this.#memory.timeoutMs) return;
        await request(stuckCall(call), Int32Array.of(awaited));
        waited.restart();
      });
      // The relay knows who called what, and answers that the group has failed.
      if (stage === 'written' && !barrier.agree(area)) await begun;
      if (failure !== null) throw failure;
    };
  }

  /** Every rank reduces its slice, then reads the slices of the others. */
  async #allReduce(call: CollectiveCall, data: Parts, into: Parts | null, meet: Meet): Promise<CollectiveArray | null> {
    if (into === null) {
      const whole = createArray(call.dataType, data.length);
      await this.#allReduce(call, data, Parts.of(whole), meet);
      return whole;
    }
    this.#arrays.reduceOwnSlice(call, data, into, this.#arrays.ownSliceStart(call));
    await meet('reduced');
    this.#arrays.readOtherSlices(into, call);
    return null;
  }

  #allGather(call: CollectiveCall, into: Parts | null): CollectiveArray | null {
    return filled(call, elementCount(call.shape) * this.#worldSize, into, (whole) => this.#arrays.readAll(call, whole));
  }

  #reduceScatter(call: CollectiveCall, data: Parts, into: Parts | null): CollectiveArray | null {
    return filled(call, data.length / this.#worldSize, into, (slice) =>
      this.#arrays.reduceOwnSlice(call, data, slice, 0),
    );
  }

  /** Whether all ranks have room for an array that is larger than all before. */
  async #agreeOnRoom(sequence: number, bytes: number, request: Request): Promise<boolean> {
    const call = {
      operation: 'all-reduce',
      reduce: 'min',
      dataType: 'uint8',
      shape: [1],
      root: null,
      distance: null,
    } as const;
    const isTrueOnAll = async (isTrue: boolean): Promise<boolean> => {
      const answer = await request({ ...call, sequence, stage: 'reserve' }, Uint8Array.of(Number(isTrue)));
      return answer?.[0] === 1;
    };
    const everyRankHasRoom = await isTrueOnAll(this.#memory.reserve(bytes));
    if (everyRankHasRoom) this.#memory.settle(bytes, await isTrueOnAll(await this.#memory.prepare()));
    else this.#memory.refuse(bytes);
    return everyRankHasRoom;
  }
}

/** Writes a result to its place, or to a new array. @returns the new array; null if there was a place */
function filled(
  { dataType }: CollectiveCall,
  length: number,
  into: Parts | null,
  fill: (target: Parts) => void,
): CollectiveArray | null {
  if (into !== null) {
    fill(into);
    return null;
  }
  const made = createArray(dataType, length);
  fill(Parts.of(made));
  return made;
}

/** Checks that the requests of one collective follow each other as `collective-stages.ts` says. */
function inStages(send: Request): Request {
  let previous: CollectiveCall | null = null;
  return (call, data) => {
    if (!mayFollow(previous, call.stage)) {
      const after = previous === null ? 'first' : `after "${previous.stage}"`;
      throw new Error(`${describeCall(call)} cannot come ${after}: see collective-stages.ts for the stages.`);
    }
    previous = call;
    return send(call, data);
  };
}

/** Reports a rank that does not end a collective that it has begun. */
function stuckCall({ sequence }: CollectiveCall): CollectiveCall {
  return {
    operation: 'all-gather',
    reduce: null,
    dataType: 'int32',
    shape: [1],
    root: null,
    distance: null,
    sequence,
    stage: 'stuck',
  };
}

/** First element of the i-th of `count` slices, as equal as possible, of an array of `length` elements. */
const sliceStart = (length: number, count: number, index: number): number => Math.floor((length * index) / count);

/** The arrays of a collective in {@link SharedMemory}: whole, or in slices of which each rank reduces one. */
class SharedArrays {
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
   * Writes this rank's slice of the combined array to `target`, from `targetStart` on: `reduceArrays` over the ranks in
   * their order, in pieces that stay in the processor's cache. In an all-reduce, other ranks then read the slice where
   * this rank wrote its array, a part that they do not read otherwise.
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
