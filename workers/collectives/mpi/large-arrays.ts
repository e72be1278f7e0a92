import { createArray } from '../../../core/protocol/wire/arrays.ts';
import { type CollectiveArray, type CollectiveCall, elementCount } from '../../../core/protocol/wire/collectives.ts';
import { reduceArrays } from '../../../core/protocol/wire/reduce.ts';
import type { Operands } from '../memory/memory-exchange.ts';
import type { LargeArrays, LargeWait } from '../memory/slot-exchange.ts';
import type { Parts } from '../parts.ts';
import type { Communicator } from './communicator.ts';
import type { Transfers } from './transfers.ts';

/** First element of the i-th of `count` slices, as equal as possible, of an array of `length` elements. */
export const sliceStart = (length: number, count: number, index: number): number =>
  Math.floor((length * index) / count);

/** Collectives of large arrays by messages between all ranks, for groups with one rank on each node. Positions are those of the group's ranks, in their order. */
export class MpiLargeArrays implements LargeArrays {
  readonly #communicator: Communicator;
  readonly #transfers: Transfers;
  readonly #ranks: readonly number[];

  /** @param communicator of the group's ranks, whose only messages are those of `transfers` */
  constructor(communicator: Communicator, transfers: Transfers, ranks: readonly number[]) {
    this.#communicator = communicator;
    this.#transfers = transfers;
    this.#ranks = ranks;
  }

  run(
    call: CollectiveCall,
    operands: Operands,
    senders: readonly boolean[],
    wait: LargeWait,
  ): Promise<CollectiveArray | null> {
    switch (call.operation) {
      case 'all-gather':
        return this.#allGather(call, operands, wait);
      case 'all-reduce':
        return this.#allReduce(call, operands, wait);
      case 'reduce-scatter':
        return this.#reduceScatter(call, operands, wait);
      case 'broadcast':
        return this.#broadcast(call, operands, wait);
      case 'shift':
        return this.#shift(call, operands, senders, wait);
      case 'barrier':
        throw new TypeError('A barrier has no array.');
      case 'send':
      case 'receive':
        throw new TypeError('A message between two ranks is no collective.');
    }
  }

  async #allGather(call: CollectiveCall, { data, into }: Operands, wait: LargeWait): Promise<CollectiveArray | null> {
    const length = elementCount(call.shape);
    const target = this.#target(into, call, length * this.#ranks.length);
    const { rank } = this.#communicator;
    data?.copyTo(target.subarray(rank * length, (rank + 1) * length), 0);
    await this.#spread(target, (position) => position * length, wait);
    return this.#resultOf(target, into);
  }

  /** Every rank reduces its slice, then sends it to all. Integers, whose sums may be errors, are reduced by every rank. */
  async #allReduce(call: CollectiveCall, operands: Operands, wait: LargeWait): Promise<CollectiveArray | null> {
    const { reduce } = call;
    const { into } = operands;
    const length = elementCount(call.shape);
    const { rank, size } = this.#communicator;
    if (reduce === null) throw new TypeError('An all-reduce needs an operation.');
    if (call.dataType === 'int32' || call.dataType === 'uint8') return await this.#reduceWhole(call, operands, wait);
    const start = (position: number): number => sliceStart(length, size, position);
    const target = this.#target(into, call, length);
    const slices = await this.#exchangeSlices(call, operands, start, wait);
    target.set(reduceArrays(slices, reduce), start(rank));
    await this.#spread(target, start, wait);
    return this.#resultOf(target, into);
  }

  async #reduceScatter(call: CollectiveCall, operands: Operands, wait: LargeWait): Promise<CollectiveArray | null> {
    if (call.reduce === null) throw new TypeError('A reduce-scatter needs an operation.');
    const length = elementCount(call.shape) / this.#ranks.length;
    const slices = await this.#exchangeSlices(call, operands, (position) => position * length, wait);
    return reduceArrays(slices, call.reduce);
  }

  async #reduceWhole(call: CollectiveCall, operands: Operands, wait: LargeWait): Promise<CollectiveArray> {
    const length = elementCount(call.shape);
    const all = await this.#allGather({ ...call, operation: 'all-gather' }, { ...operands, into: null }, wait);
    if (all === null || call.reduce === null) throw new TypeError('An all-reduce needs an operation.');
    const arrays = this.#ranks.map((_, position) => all.subarray(position * length, (position + 1) * length));
    return reduceArrays([arrays[0].slice(), ...arrays.slice(1)], call.reduce);
  }

  async #broadcast(call: CollectiveCall, { data, into }: Operands, wait: LargeWait): Promise<CollectiveArray | null> {
    const root = this.#ranks.indexOf(Number(call.root));
    const isRoot = root === this.#communicator.rank;
    const array = isRoot && data !== null ? data.whole() : this.#target(into, call, elementCount(call.shape));
    await this.#transfers.broadcast(array, root, wait);
    return isRoot ? null : this.#resultOf(array, into);
  }

  async #shift(
    call: CollectiveCall,
    { data }: Operands,
    senders: readonly boolean[],
    wait: LargeWait,
  ): Promise<CollectiveArray | null> {
    const { rank } = this.#communicator;
    const distance = Number(call.distance);
    const from = rank + distance;
    const received = senders.at(from) === true && from < senders.length;
    const array = received ? createArray(call.dataType, elementCount(call.shape)) : null;
    if (array !== null) this.#transfers.receive(array, from);
    if (data !== null && rank >= distance) this.#transfers.send(data.whole(), rank - distance);
    await this.#transfers.end(wait);
    return array;
  }

  /** All ranks' versions of this rank's slice, in their order. */
  async #exchangeSlices(
    call: CollectiveCall,
    { data }: Operands,
    start: (position: number) => number,
    wait: LargeWait,
  ): Promise<CollectiveArray[]> {
    const { rank, size } = this.#communicator;
    if (data === null) throw new TypeError(`${call.operation} was called without an array.`);
    const whole = data.whole();
    const slices = Array.from({ length: size }, (_, position) =>
      position === rank
        ? whole.slice(start(rank), start(rank + 1))
        : createArray(call.dataType, start(rank + 1) - start(rank)),
    );
    for (const other of this.#others()) this.#transfers.receive(slices[other], other);
    for (const other of this.#others()) this.#transfers.send(whole.subarray(start(other), start(other + 1)), other);
    await this.#transfers.end(wait);
    return slices;
  }

  /** Sends this rank's slice of `target` to all, and receives theirs. */
  async #spread(target: CollectiveArray, start: (position: number) => number, wait: LargeWait): Promise<void> {
    const slice = (position: number): CollectiveArray => target.subarray(start(position), start(position + 1));
    for (const other of this.#others()) this.#transfers.receive(slice(other), other);
    for (const other of this.#others()) this.#transfers.send(slice(this.#communicator.rank), other);
    await this.#transfers.end(wait);
  }

  #others(): number[] {
    const { rank, size } = this.#communicator;
    return Array.from({ length: size - 1 }, (_, i) => (rank + 1 + i) % size);
  }

  /** Where to put the result: in place, if that is one array. */
  #target(into: Parts | null, { dataType }: CollectiveCall, length: number): CollectiveArray {
    const views = into?.views() ?? [];
    return views.length === 1 ? views[0] : createArray(dataType, length);
  }

  /** @returns null if `target` is the given place */
  #resultOf(target: CollectiveArray, into: Parts | null): CollectiveArray | null {
    return (into?.views().length ?? 0) === 1 ? null : target;
  }
}
