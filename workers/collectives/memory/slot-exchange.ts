import { setImmediate } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { bytesPerElement } from '../../../core/protocol/wire/arrays.ts';
import {
  type CollectiveArray,
  type CollectiveCall,
  CollectiveError,
  describeCall,
  elementCount,
  uniteWishes,
  type Wishes,
} from '../../../core/protocol/wire/collectives.ts';
import { concatenate, reduceArrays } from '../../../core/protocol/wire/reduce.ts';
import type { Operands } from './memory-exchange.ts';
import { type MappedSlots, type SlotContent, slotBytes } from './mapped-slots.ts';

/** So long a rank waits before it tells the relay, which finds out who disagrees or never comes. */
const patienceMs = 50;

/** What a call brought this rank. */
export interface SlotAnswer {
  /** Null where it needs nothing. */
  data: CollectiveArray | null;
  /** Of all ranks. */
  wishes: Wishes;
}

export interface SlotExchangeOptions {
  rank: number;
  /** Ascending. */
  ranks: readonly number[];
  /** Tells the hub's relay how this rank stands with a call; it answers only by failing the group. */
  tell: (call: CollectiveCall) => void;
}

/**
 * Collectives of small arrays through memory that the ranks share, without the hub. Several may be under way; they end in the order in which
 * they were called. The relay hears of a call (`collectiveStages`) only from a rank that waits for longer than usual.
 */
export class SlotExchange {
  readonly #slots: MappedSlots;
  readonly #options: SlotExchangeOptions;
  readonly #failed = Promise.withResolvers<never>();
  #failure: Error | null = null;
  #calls = 0;
  /** Resolves when the call before has ended, one way or the other. */
  #turn: Promise<void> = Promise.resolve();

  constructor(slots: MappedSlots, options: SlotExchangeOptions) {
    this.#slots = slots;
    this.#options = options;
    this.#failed.promise.catch(() => undefined);
  }

  takes({ dataType, shape }: CollectiveCall): boolean {
    return elementCount(shape) * bytesPerElement(dataType) <= slotBytes;
  }

  /** Ends what is under way. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#failed.reject(this.#failure);
  }

  async run(call: CollectiveCall, wishes: Wishes, operands: Operands): Promise<SlotAnswer> {
    const [data, into] = [operands.data?.whole() ?? null, operands.into?.whole() ?? null];
    const number = (this.#calls += 1);
    const earlier = this.#turn;
    const turn = Promise.withResolvers<void>();
    this.#turn = turn.promise;
    const content = { signature: crc32(describeCall(call)) | 0, wishes, data };
    const isPut = this.#slots.isFree(number);
    if (isPut) this.#slots.put(number, content);
    // Waiting is sleeping: first whoever called does what it has to do meanwhile.
    await setImmediate();
    await earlier;
    try {
      return await this.#complete({ call, number, into, unput: isPut ? null : content });
    } finally {
      turn.resolve();
    }
  }

  async #complete({ call, number, into, unput }: SlotCall): Promise<SlotAnswer> {
    const { rank, ranks, tell } = this.#options;
    const patience = new Patience(() => tell({ ...call, stage: 'awaited' }));
    const isAwaited = (): void => {
      if (this.#failure !== null) throw this.#failure;
      patience.try();
    };
    isAwaited();
    if (unput !== null) {
      await this.#slots.untilFree(number, isAwaited);
      this.#slots.put(number, unput);
    }
    await this.#slots.untilFilled(number, isAwaited);
    const contents = this.#slots.read(number, call);
    const [{ signature }] = contents;
    if (contents.some((other) => other.signature !== signature)) {
      // The relay knows who called what, and its answer is that the group has failed.
      patience.lose();
      return await this.#failed.promise;
    }
    if (patience.isLost) tell({ ...call, stage: 'withdrawn' });
    const arrays = contents.map(({ data }) => data);
    const answer = answerOf(call, ranks, rank, arrays, into);
    this.#slots.release(number);
    return { data: answer, wishes: uniteWishes(contents.map((content) => content.wishes)) };
  }
}

/** A call whose turn has come. */
interface SlotCall {
  call: CollectiveCall;
  /** Counts calls through slots, from 1. */
  number: number;
  into: CollectiveArray | null;
  /** What has not been put yet, for want of a free slot. */
  unput: SlotContent | null;
}

/** Does something once it has been tried for longer than usual. */
class Patience {
  isLost = false;
  readonly #onLost: () => void;
  readonly #sinceMs = performance.now();

  constructor(onLost: () => void) {
    this.#onLost = onLost;
  }

  try(): void {
    if (performance.now() - this.#sinceMs > patienceMs) this.lose();
  }

  lose(): void {
    if (!this.isLost) this.#onLost();
    this.isLost = true;
  }
}

/**
 * What a rank gets back of all ranks' arrays, in memory of its own, which is `into` where that is given; null where it needs nothing. The bits are
 * those of the relay's `computeAnswers`.
 */
function answerOf(
  { operation, reduce, root, distance }: CollectiveCall,
  ranks: readonly number[],
  rank: number,
  arrays: readonly (CollectiveArray | null)[],
  into: CollectiveArray | null,
): CollectiveArray | null {
  const position = ranks.indexOf(rank);
  if (operation === 'barrier' || root === rank) return null;
  if (operation === 'broadcast') return arrays[ranks.indexOf(Number(root))]?.slice() ?? null;
  if (operation === 'shift') return arrays[position + Number(distance)]?.slice() ?? null;
  const all = arrays.filter((array) => array !== null);
  if (operation === 'all-gather') return into === null ? concatenate(all) : fill(into, all);
  if (reduce === null) throw new CollectiveError(`${operation} was called without a reduce operation.`);
  if (operation === 'all-reduce')
    return reduceArrays([into === null ? all[0].slice() : fill(into, [all[0]]), ...all.slice(1)], reduce);
  const size = all[0].length / ranks.length;
  const [first, ...others] = all.map((array) => array.subarray(position * size, (position + 1) * size));
  return reduceArrays([first.slice(), ...others], reduce);
}

/** Writes arrays of one length one after the other. */
function fill(target: CollectiveArray, arrays: readonly CollectiveArray[]): CollectiveArray {
  for (const [position, array] of arrays.entries()) target.set(array, position * array.length);
  return target;
}
