import { bytesPerElement, createArray, type DataType, viewArray } from '../../../core/protocol/wire/arrays.ts';
import {
  type CollectiveArray,
  type CollectiveCall,
  elementCount,
  type ReduceOperation,
} from '../../../core/protocol/wire/collectives.ts';
import { reduceArrays } from '../../../core/protocol/wire/reduce.ts';
import type { Operands } from '../memory/memory-exchange.ts';
import { pieceBytes, type Pieces } from '../memory/pieces.ts';
import type { LargeArrays, LargeWait } from '../memory/slot-exchange.ts';
import type { NodeLayout } from './node-layout.ts';
import type { NodeMemory } from './node-memory.ts';
import type { Transfers } from './transfers.ts';
import type { Parts } from '../parts.ts';

/** Bytes of an array that are under way at a time. */
const chunkBytes = 8 * 2 ** 20;

/**
 * Bytes of {@link NodeMemory} that a node with so many ranks of the group needs: a chunk of each, and one of the
 * result.
 */
export const nodeMemoryBytes = (localCount: number): number => (localCount + 1) * chunkBytes;

interface TwoLevelParts {
  /** Position of this rank in the group. */
  rank: number;
  /** The ranks of the group, ascending. */
  ranks: readonly number[];
  layout: NodeLayout;
  memory: NodeMemory;
  transfers: Transfers;
  /** Room for a piece of every rank's array. */
  pieces: Pieces;
}

/**
 * Collectives of large arrays on two levels: ranks of a node read each other's arrays in memory that they share, and
 * what all ranks of a node need from another node comes once. All ranks' versions of a slice are added by one rank, in
 * the order of ranks, so the bits are those of one machine.
 *
 * All ranks call the same collectives, so between two barriers of a node its ranks use the memory in the same way.
 */
export class TwoLevelArrays implements LargeArrays {
  readonly #parts: TwoLevelParts;
  /** This rank's place on its node. */
  readonly #place: number;
  /** Other nodes' versions of this rank's slice. */
  readonly #received: ArrayBuffer;

  constructor(parts: TwoLevelParts) {
    this.#parts = parts;
    this.#place = parts.layout.locals.indexOf(parts.rank);
    this.#received = new ArrayBuffer(chunkBytes + 16 * parts.ranks.length);
  }

  get #size(): number {
    return this.#parts.ranks.length;
  }

  run(
    call: CollectiveCall,
    operands: Operands,
    senders: readonly boolean[],
    wait: LargeWait,
  ): Promise<CollectiveArray | null> {
    const { operation, dataType } = call;
    const isOfFloats = dataType !== 'int32' && dataType !== 'uint8';
    switch (operation) {
      case 'all-gather':
        return this.#allGather(call, operands, wait);
      case 'broadcast':
        return this.#broadcast(call, operands, wait);
      case 'all-reduce':
        return isOfFloats ? this.#allReduce(call, operands, wait) : this.#reduceIntegers(call, operands, wait);
      case 'reduce-scatter':
        return isOfFloats ? this.#reduceScatter(call, operands, wait) : this.#reduceIntegers(call, operands, wait);
      case 'shift':
        return this.#shift(call, operands, senders, wait);
      case 'barrier':
        throw new TypeError('A barrier has no array.');
      case 'send':
      case 'receive':
        throw new TypeError('A message between two ranks is no collective.');
    }
  }

  async #allReduce(call: CollectiveCall, operands: Operands, wait: LargeWait): Promise<CollectiveArray | null> {
    const { rank, layout, memory } = this.#parts;
    const size = this.#size;
    const { data, into, dataType, length, result } = requireArray(call, operands);
    for (const { start, end } of chunksOf(length, Math.floor(chunkBytes / bytesPerElement(dataType)))) {
      const count = end - start;
      const cut = (position: number): number => sliceStart(count, size, position);
      data.copyTo(this.#input(this.#place, dataType, count), start);
      await memory.barrier(wait);
      const whole = this.#result(dataType, count);
      await this.#reduceSlice(call, cut, count, whole.subarray(cut(rank), cut(rank + 1)), wait);
      await this.#spread((position) => whole.subarray(cut(position), cut(position + 1)), layout.givers, wait);
      await memory.barrier(wait);
      into.set(whole, start);
    }
    return result;
  }

  async #reduceScatter(call: CollectiveCall, operands: Operands, wait: LargeWait): Promise<CollectiveArray | null> {
    const { memory } = this.#parts;
    const size = this.#size;
    const { data, dataType, length } = requireArray(call, { ...operands, into: null });
    const own = createArray(dataType, length / size);
    for (const { start, end } of chunksOf(own.length, Math.floor(chunkBytes / bytesPerElement(dataType) / size))) {
      const count = end - start;
      const input = this.#input(this.#place, dataType, count * size);
      for (let position = 0; position < size; position++)
        data.copyTo(input.subarray(position * count, (position + 1) * count), position * own.length + start);
      await memory.barrier(wait);
      await this.#reduceSlice(call, (position) => position * count, count * size, own.subarray(start, end), wait);
      await memory.barrier(wait);
    }
    return own;
  }

  async #allGather(call: CollectiveCall, operands: Operands, wait: LargeWait): Promise<CollectiveArray | null> {
    const { rank, layout, memory } = this.#parts;
    const size = this.#size;
    const { data, into, dataType, length, result } = requireArray(call, operands, this.#size);
    const room = Math.floor(memory.byteLength / bytesPerElement(dataType) / size);
    for (const { start, end } of chunksOf(length, room)) {
      const place = (position: number): CollectiveArray =>
        memory.at(position * room * bytesPerElement(dataType), dataType, end - start);
      data.copyTo(place(rank), start);
      await this.#spread(place, layout.givers, wait);
      await memory.barrier(wait);
      for (let position = 0; position < size; position++) into.set(place(position), position * length + start);
      await memory.barrier(wait);
    }
    return result;
  }

  async #broadcast(call: CollectiveCall, operands: Operands, wait: LargeWait): Promise<CollectiveArray | null> {
    const { rank, ranks, layout, memory } = this.#parts;
    const { dataType } = call;
    const length = elementCount(call.shape);
    const root = ranks.indexOf(Number(call.root));
    const target = root === rank ? null : createArray(dataType, length);
    for (const { start, end } of chunksOf(length, Math.floor(memory.byteLength / bytesPerElement(dataType)))) {
      const chunk = memory.at(0, dataType, end - start);
      operands.data?.copyTo(chunk, start);
      const givers = layout.givers.filter((giver) => giver === root);
      await this.#spread(() => chunk, givers, wait, root === rank);
      await memory.barrier(wait);
      target?.set(chunk, start);
      await memory.barrier(wait);
    }
    return target;
  }

  /** Sums of integers may be errors, which all ranks must find: each reduces all arrays. */
  async #reduceIntegers(call: CollectiveCall, operands: Operands, wait: LargeWait): Promise<CollectiveArray | null> {
    const { operation, reduce, shape } = call;
    if (reduce === null) throw new TypeError('A reduction needs an operation.');
    const length = elementCount(shape);
    const all = await this.#allGather({ ...call, operation: 'all-gather' }, { ...operands, into: null }, wait);
    if (all === null) throw new TypeError('An all-gather has a result.');
    const arrays = this.#parts.ranks.map((_, position) => all.subarray(position * length, (position + 1) * length));
    const sum = reduceArrays([arrays[0].slice(), ...arrays.slice(1)], reduce);
    const own = (position: number): number => (position * length) / this.#size;
    return operation === 'reduce-scatter' ? sum.slice(own(this.#parts.rank), own(this.#parts.rank + 1)) : sum;
  }

  async #shift(
    { dataType, shape, distance }: CollectiveCall,
    { data }: Operands,
    senders: readonly boolean[],
    wait: LargeWait,
  ): Promise<CollectiveArray | null> {
    const { rank, transfers } = this.#parts;
    const [from, to] = [rank + Number(distance), rank - Number(distance)];
    const array = senders[from] ? createArray(dataType, elementCount(shape)) : null;
    if (array !== null) transfers.receive(array, from);
    if (data !== null && to >= 0) transfers.send(data.whole(), to);
    await transfers.end(wait);
    return array;
  }

  /** Adds all ranks' versions of this rank's slice, in the order of ranks. */
  async #reduceSlice(
    { dataType, reduce }: CollectiveCall,
    cut: (position: number) => number,
    count: number,
    target: CollectiveArray,
    wait: LargeWait,
  ): Promise<void> {
    const { rank, ranks, layout, transfers } = this.#parts;
    if (reduce === null) throw new TypeError('A reduction needs an operation.');
    const own = this.#input(this.#place, dataType, count);
    const remote = new Map(layout.remotes.map((other, i) => [other, this.#room(i, dataType, target.length)]));
    for (const [other, array] of remote) transfers.receive(array, other);
    for (const other of layout.remotes) transfers.send(own.subarray(cut(other), cut(other + 1)), other);
    await transfers.end(wait);
    const versions = ranks.map((_, position) => {
      const local = layout.locals.indexOf(position);
      return remote.get(position) ?? this.#input(local, dataType, count).subarray(cut(rank), cut(rank + 1));
    });
    this.#add(versions, reduce, dataType, target);
  }

  /** Adds arrays, in their order, piece by piece. */
  #add(arrays: readonly CollectiveArray[], reduce: ReduceOperation, dataType: DataType, target: CollectiveArray): void {
    const { pieces } = this.#parts;
    for (const { start, end } of chunksOf(target.length, pieceBytes / bytesPerElement(dataType))) {
      const loaded = arrays.map((array, i) => {
        const piece = pieces.at(i, dataType, end - start);
        piece.set(array.subarray(start, end));
        return piece;
      });
      target.set(pieces.reduce(loaded, reduce), start);
    }
  }

  /** Sends this rank's part to one rank of each other node, and receives for this node those of `givers`. */
  async #spread(
    part: (position: number) => CollectiveArray,
    givers: readonly number[],
    wait: LargeWait,
    sends = true,
  ): Promise<void> {
    const { rank, layout, transfers } = this.#parts;
    for (const giver of givers) transfers.receive(part(giver), giver);
    if (sends) for (const taker of layout.takersOf(rank)) transfers.send(part(rank), taker);
    await transfers.end(wait);
  }

  /** What the rank at a place of this node has written. */
  #input(place: number, dataType: DataType, length: number): CollectiveArray {
    return this.#parts.memory.at(place * chunkBytes, dataType, length);
  }

  #result(dataType: DataType, length: number): CollectiveArray {
    return this.#input(this.#parts.layout.locals.length, dataType, length);
  }

  /** Room for the i-th version from another node. */
  #room(i: number, dataType: DataType, length: number): CollectiveArray {
    const bytes = Math.ceil((length * bytesPerElement(dataType)) / 8) * 8;
    return viewArray(dataType, this.#received, i * bytes, length);
  }
}

/** First element of the i-th of `count` slices, as equal as possible, of an array of `length` elements. */
const sliceStart = (length: number, count: number, index: number): number => Math.floor((length * index) / count);

/** Elements from `start` to `end` of an array, which travel together. */
interface Chunk {
  start: number;
  end: number;
}

/** @param most elements of a chunk */
function chunksOf(length: number, most: number): Chunk[] {
  return Array.from({ length: Math.ceil(length / most) }, (_, i) => ({
    start: i * most,
    end: Math.min((i + 1) * most, length),
  }));
}

/** What a call has, with a place for its result. `result` is null if that place was given. */
interface Arrays {
  data: Parts;
  into: Pick<Parts, 'set'>;
  dataType: DataType;
  /** The length of one rank's array. */
  length: number;
  result: CollectiveArray | null;
}

/** What a call with an array has. @param times how many of the arrays the result holds */
function requireArray({ operation, dataType, shape }: CollectiveCall, { data, into }: Operands, times = 1): Arrays {
  if (data === null) throw new TypeError(`${operation} was called without an array.`);
  const length = elementCount(shape);
  if (into !== null) return { data, into, dataType, length, result: null };
  const result = createArray(dataType, times * length);
  return { data, into: { set: (values, start) => result.set(values, start) }, dataType, length, result };
}
