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
import type { SlotContent, Slots } from './mapped-slots.ts';

/** A rank that has waited this long tells the relay, which detects ranks that disagree or never come. */
const patienceMs = 50;
/** Longest time without a turn of the event loop, in which many calls may end. */
const turnEveryMs = 1;
/** How often a rank whose large array arrives piece by piece says so. */
const renewMs = 1000;

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
  /**
   * Tells the hub's relay that this rank awaits a call, or no longer does. The relay answers only by failing the group.
   */
  tell: (call: CollectiveCall) => void;
  /**
   * Takes the arrays that are too large for the slots, in which then only the headers travel; null: they go another
   * way.
   */
  large: LargeArrays | null;
}

/** Moves arrays that do not fit into slots. All ranks have made the same call. */
export interface LargeArrays {
  /**
   * This rank's result; null where there is none, or it was written to `operands.into`.
   * @param senders positions of the ranks that have an array
   */
  run(
    call: CollectiveCall,
    operands: Operands,
    senders: readonly boolean[],
    wait: LargeWait,
  ): Promise<CollectiveArray | null>;
}

export interface LargeWait {
  /** Is called every few milliseconds of a wait, which it ends by throwing. */
  isAwaited: () => void;
  /** Is called when a part has arrived: the limit begins anew. */
  advanced: () => void;
}

/**
 * Collectives of small arrays through memory that the ranks share, without the hub. Several may run at a time; they end
 * in the order of their calls. Only a rank that waits longer than usual tells the relay of its call
 * (`collective-stages.ts`).
 */
export class SlotExchange {
  readonly #slots: Slots;
  readonly #options: SlotExchangeOptions;
  readonly #turns = new Turns();
  readonly #failed = Promise.withResolvers<never>();
  #failure: Error | null = null;
  #calls = 0;
  /** Resolves when the previous call has succeeded or failed. */
  #turn: Promise<void> = Promise.resolve();

  constructor(slots: Slots, options: SlotExchangeOptions) {
    this.#slots = slots;
    this.#options = options;
    this.#failed.promise.catch(() => undefined);
  }

  takes(call: CollectiveCall): boolean {
    return this.#options.large !== null || this.#fits(call);
  }

  #fits({ dataType, shape }: CollectiveCall): boolean {
    return elementCount(shape) * bytesPerElement(dataType) <= this.#slots.slotBytes;
  }

  /** Rejects all current calls. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#failed.reject(this.#failure);
  }

  async run(call: CollectiveCall, signals: ControlSignals, operands: Operands): Promise<SlotAnswer> {
    const fits = this.#fits(call);
    const data = fits ? (operands.data?.whole() ?? null) : null;
    const number = (this.#calls += 1);
    const earlier = this.#turn;
    const turn = Promise.withResolvers<void>();
    this.#turn = turn.promise;
    const content = { signature: crc32(describeCall(call)) | 0, signals, data, sends: operands.data !== null };
    const into = fits ? (operands.into?.whole() ?? null) : null;
    const isPut = this.#slots.isFree(number);
    if (isPut) this.#slots.put(number, content);
    await earlier;
    if (!isPut || !this.#turns.isRecent() || !this.#slots.fillsSoon(number)) await this.#turns.next();
    try {
      return await this.#complete({ call, number, operands, into, unput: isPut ? null : content });
    } finally {
      turn.resolve();
    }
  }

  async #complete(slotCall: SlotCall): Promise<SlotAnswer> {
    const { call, number, unput } = slotCall;
    const { tell } = this.#options;
    const patience = new Patience((stage) => tell({ ...call, stage }));
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
    const data = await this.#answer(slotCall, contents, { isAwaited, advanced: () => patience.renew() });
    patience.end();
    this.#slots.release(number);
    return { data, signals: mergeSignals(contents.map((content) => content.signals)) };
  }

  #answer(
    { call, operands, into }: SlotCall,
    contents: readonly SlotContent[],
    wait: LargeWait,
  ): CollectiveArray | null | Promise<CollectiveArray | null> {
    const { rank, ranks, large } = this.#options;
    if (large !== null && !this.#fits(call)) {
      const senders = contents.map(({ sends }) => sends);
      return large.run(call, operands, senders, wait);
    }
    const arrays = contents.map(({ data }) => data);
    return answerOf(call, ranks, rank, arrays, into);
  }
}

/** A call whose predecessors have ended. */
interface SlotCall {
  call: CollectiveCall;
  /** Position among the calls through slots, from 1. */
  number: number;
  operands: Operands;
  /** Where to write the result of a small array. */
  into: CollectiveArray | null;
  /** This rank's part where it could not be put yet, for want of a free slot; else null. */
  unput: SlotContent | null;
}

/**
 * Turns of the event loop, which take messages of the hub. Waiting blocks the process, so a turn comes before it and
 * lets the caller run first. Calls whose parts are there at once need no turn for some time.
 */
class Turns {
  #lastMs = -Infinity;

  isRecent(): boolean {
    return performance.now() - this.#lastMs < turnEveryMs;
  }

  async next(): Promise<void> {
    await setImmediate();
    this.#lastMs = performance.now();
  }
}

/** Tells the relay of a wait that takes longer than usual, and of its end. */
class Patience {
  readonly #tell: (stage: 'awaited' | 'withdrawn') => void;
  #isLost = false;
  #sinceMs = performance.now();

  constructor(tell: (stage: 'awaited' | 'withdrawn') => void) {
    this.#tell = tell;
  }

  try(): void {
    if (performance.now() - this.#sinceMs > patienceMs) this.lose();
  }

  lose(): void {
    if (!this.#isLost) this.#tell('awaited');
    this.#isLost = true;
  }

  /** Something has arrived: the relay's limit begins anew, at most every second. */
  renew(): void {
    if (!this.#isLost || performance.now() - this.#sinceMs < renewMs) return;
    this.end();
    this.#sinceMs = performance.now();
    this.lose();
  }

  end(): void {
    if (this.#isLost) this.#tell('withdrawn');
    this.#isLost = false;
  }
}

/**
 * The result of a call from all ranks' arrays, in `into` where that is given, else in a new array; null where this rank
 * needs none. It has the bits of the relay's `computeAnswers`.
 */
export function answerOf(
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
