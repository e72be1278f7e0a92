import { setImmediate } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { bytesPerElement } from '../../../core/protocol/wire/arrays.ts';
import {
  type CollectiveArray,
  type CollectiveCall,
  CollectiveError,
  describeCall,
  elementCount,
  mergeSignals,
  type ControlSignals,
} from '../../../core/protocol/wire/collectives.ts';
import { concatenate, reduceArrays } from '../../../core/protocol/wire/reduce.ts';
import type { Operands } from './memory-exchange.ts';
import { type MappedSlots, type SlotContent, slotBytes } from './mapped-slots.ts';

/** A rank that has waited this long tells the relay, which detects ranks that disagree or never come. */
const patienceMs = 50;

/** The result of a call for this rank. */
export interface SlotAnswer {
  /** Null where the rank needs no array. */
  data: CollectiveArray | null;
  /** Merged over all ranks. */
  signals: ControlSignals;
}

export interface SlotExchangeOptions {
  rank: number;
  /** Ascending. */
  ranks: readonly number[];
  /** Tells the hub's relay that this rank awaits a call, or no longer does. The relay answers only by failing the group. */
  tell: (call: CollectiveCall) => void;
}

/**
 * Collectives of small arrays through memory that the ranks share, without the hub. Several may run at a time; they end in the
 * order of their calls. Only a rank that waits longer than usual tells the relay of its call (`collective-stages.ts`).
 */
export class SlotExchange {
  readonly #slots: MappedSlots;
  readonly #options: SlotExchangeOptions;
  readonly #failed = Promise.withResolvers<never>();
  #failure: Error | null = null;
  #calls = 0;
  /** Resolves when the previous call has succeeded or failed. */
  #turn: Promise<void> = Promise.resolve();

  constructor(slots: MappedSlots, options: SlotExchangeOptions) {
    this.#slots = slots;
    this.#options = options;
    this.#failed.promise.catch(() => undefined);
  }

  takes({ dataType, shape }: CollectiveCall): boolean {
    return elementCount(shape) * bytesPerElement(dataType) <= slotBytes;
  }

  /** Rejects all current calls. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#failed.reject(this.#failure);
  }

  async run(call: CollectiveCall, signals: ControlSignals, operands: Operands): Promise<SlotAnswer> {
    const [data, into] = [operands.data?.whole() ?? null, operands.into?.whole() ?? null];
    const number = (this.#calls += 1);
    const earlier = this.#turn;
    const turn = Promise.withResolvers<void>();
    this.#turn = turn.promise;
    const content = { signature: crc32(describeCall(call)) | 0, signals, data };
    const isPut = this.#slots.isFree(number);
    if (isPut) this.#slots.put(number, content);
    // Waiting blocks the process. Let the caller run first.
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
      // The relay knows who called what, and answers that the group has failed.
      patience.lose();
      return await this.#failed.promise;
    }
    if (patience.isLost) tell({ ...call, stage: 'withdrawn' });
    const arrays = contents.map(({ data }) => data);
    const answer = answerOf(call, ranks, rank, arrays, into);
    this.#slots.release(number);
    return { data: answer, signals: mergeSignals(contents.map((content) => content.signals)) };
  }
}

/** A call whose predecessors have ended. */
interface SlotCall {
  call: CollectiveCall;
  /** Position among the calls through slots, from 1. */
  number: number;
  into: CollectiveArray | null;
  /** This rank's part where it could not be put yet, for want of a free slot; else null. */
  unput: SlotContent | null;
}

/** Calls `onLost` once a wait takes longer than usual. */
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
 * The result of a call from all ranks' arrays, in `into` where that is given, else in a new array; null where this rank needs
 * none. It has the bits of the relay's `computeAnswers`.
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
