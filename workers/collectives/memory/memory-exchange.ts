import { crc32 } from 'node:zlib';
import { bytesPerElement, createArray } from '../../../core/protocol/wire/arrays.ts';
import {
  type CollectiveArray,
  type CollectiveCall,
  describeCall,
  elementCount,
} from '../../../core/protocol/wire/collectives.ts';
import { Parts } from '../parts.ts';
import type { SharedMemory } from './shared-memory.ts';

/** Sends a request to the hub's relay and gives what it answers. */
export type Request = (call: CollectiveCall, data: CollectiveArray | null) => Promise<CollectiveArray | null>;

/** Waits for all ranks. */
type Meet = (stage: 'written' | 'reduced') => Promise<unknown>;

/** What a rank brings to a collective, and where the result is wanted, if anywhere in particular. */
export interface Operands {
  data: Parts | null;
  into: Parts | null;
}

/**
 * Collectives of large arrays through memory that the ranks share. The relay only has them wait for each other (`collectiveStages`); where
 * they can do that by themselves it is told what they call, and so finds out who disagrees or never comes.
 */
export class MemoryExchange {
  readonly #memory: SharedMemory;
  readonly #rank: number;
  readonly #worldSize: number;
  /** The collective under way: there can be one at a time. */
  #open: CollectiveCall | null = null;

  constructor(memory: SharedMemory, rank: number, worldSize: number) {
    this.#memory = memory;
    this.#rank = rank;
    this.#worldSize = worldSize;
  }

  takes(call: CollectiveCall): boolean {
    return this.#memory.takes(call);
  }

  /**
   * This rank's answer; null where it needs none, or has it where it wanted it. The first request is made at once, so that calls keep their
   * order.
   */
  async run(call: CollectiveCall, operands: Operands, request: Request): Promise<CollectiveArray | null> {
    if (this.#open !== null) {
      throw new Error(
        `${describeCall(call)} was called on rank ${this.#rank} before ${describeCall(this.#open)} had ended: with large arrays, ` +
          'await one collective before the next.',
      );
    }
    this.#open = call;
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
    if (data !== null) this.#memory.write(data, call);
    await meet('written');
    this.#memory.unlink();
    if (call.operation === 'all-gather') return this.#memory.readAll(call);
    if (data !== null && call.operation === 'all-reduce') return this.#allReduce(call, data, operands.into, meet);
    if (data !== null && call.operation === 'reduce-scatter') return this.#reduceScatter(call, data);
    return call.root === null || call.root === this.#rank ? null : this.#memory.read(call.root, call);
  }

  /** What has this rank wait until all have come as far: the relay, or else the memory itself. */
  #meeting(call: CollectiveCall, request: Request): Meet {
    const { barrier, area } = this.#memory;
    if (barrier === null) return (stage) => request({ ...call, stage }, null);
    let failure: Error | null = null;
    let isBegun = false;
    const told = request({ ...call, stage: 'mapped' }, null)
      .then(() => void (isBegun = true))
      .catch((error: Error) => {
        failure = error;
      });
    barrier.announce(crc32(describeCall(call)), area);
    return async (stage) => {
      let sinceMs = performance.now();
      await barrier.meet(async (awaited) => {
        if (failure !== null) throw failure;
        // Until all ranks have begun it, the relay itself sees who does not come.
        if (!isBegun || performance.now() - sinceMs < this.#memory.timeoutMs) return;
        await request(stuckCall(call), Int32Array.of(awaited));
        sinceMs = performance.now();
      });
      // The relay knows who called what, and its answer is that the group has failed.
      if (stage === 'written' && !barrier.agree(area)) await told;
      if (failure !== null) throw failure;
    };
  }

  /** Every rank reduces its slice, and then reads those of the others. */
  async #allReduce(call: CollectiveCall, data: Parts, into: Parts | null, meet: Meet): Promise<CollectiveArray | null> {
    if (into === null) {
      const whole = createArray(call.dataType, data.length);
      await this.#allReduce(call, data, Parts.of(whole), meet);
      return whole;
    }
    this.#memory.reduceOwnSlice(call, data, into, this.#memory.ownSliceStart(call));
    await meet('reduced');
    this.#memory.readOtherSlices(into, call);
    return null;
  }

  #reduceScatter(call: CollectiveCall, data: Parts): CollectiveArray {
    const slice = createArray(call.dataType, data.length / this.#worldSize);
    this.#memory.reduceOwnSlice(call, data, Parts.of(slice), 0);
    return slice;
  }

  /** Whether all ranks have room for an array that is larger than any before. */
  async #agreeOnRoom(sequence: number, bytes: number, request: Request): Promise<boolean> {
    const about = {
      operation: 'all-reduce',
      reduce: 'min',
      dataType: 'uint8',
      shape: [1],
      root: null,
      distance: null,
    } as const;
    const isTrueOfAll = async (isTrue: boolean): Promise<boolean> => {
      const answer = await request({ ...about, sequence, stage: 'reserve' }, Uint8Array.of(Number(isTrue)));
      return answer?.[0] === 1;
    };
    const everyRankHasRoom = await isTrueOfAll(this.#memory.reserve(bytes));
    if (everyRankHasRoom) this.#memory.settle(bytes, await isTrueOfAll(await this.#memory.prepare()));
    else this.#memory.refuse(bytes);
    return everyRankHasRoom;
  }
}

/** Tells the relay of a rank that does not come to the end of a collective that it has begun. */
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
