import { cpus } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { viewArray } from '../../../core/protocol/wire/arrays.ts';
import {
  type CollectiveArray,
  type CollectiveCall,
  type ControlSignals,
  elementCount,
} from '../../../core/protocol/wire/collectives.ts';
import type { Futex, Mapping } from '../../system/libc.ts';
import { MappedWord, writeTimespec } from './mapped-word.ts';

/** A rank's room for data in a slot. */
const roomBytes = 256 * 1024;
const slotCount = 4;
/** The first page: four words per slot, each in a separate cache line, then the length of a sleep. */
const wordBytes = 64;
const timespecOffset = 4 * slotCount * wordBytes;
const pageBytes = 4096;
/** A rank's header in a slot, before its array: signature of the call, controls, halt, whether there is an array. */
const headBytes = 64;
/** About 10 µs: less than a sleep and a wake-up cost, but lost where another rank waits for the core. */
const spinsBesideFree = 2000;

/** A rank's room in all slots. */
const rankBytes = slotCount * (headBytes + roomBytes);

/** Size of the memory for this many ranks. */
export const slotsBytes = (ranks: number): number => pageBytes + ranks * rankBytes;

/**
 * Memory that ranks share for small arrays: four slots, used in turn, each with room for every rank's array. A rank
 * puts its array and counts up; only the last one wakes the others. All ranks read all arrays and count up again, which
 * frees the slot for the fourth call after.
 */
export class MappedSlots implements Slots {
  readonly slotBytes = roomBytes;
  readonly #buffer: ArrayBuffer;
  readonly #words: Int32Array;
  readonly #position: number;
  readonly #worldSize: number;
  readonly #slots: SlotWords[];
  readonly #spins: number;
  readonly #timespecAddress: number;
  #lastPut = 0;

  /** @param position this rank's in the order of the group's ranks */
  constructor(futex: Futex, mapping: Mapping, position: number, worldSize: number) {
    this.#buffer = mapping.buffer;
    this.#words = new Int32Array(mapping.buffer);
    this.#position = position;
    this.#worldSize = worldSize;
    this.#slots = Array.from({ length: slotCount }, (_, slot) => wordsOf(slot, futex, mapping));
    // All cores of the machine: a worker is bound to one of them, and `availableParallelism` would count that alone.
    this.#spins = worldSize <= cpus().length ? spinsBesideFree : 0;
    this.#timespecAddress = writeTimespec(mapping, timespecOffset);
  }

  isFree(call: number): boolean {
    return this.#lastPut === call - 1 && this.#slots[slotOf(call)].freed.hasReached(turnOf(call) - 1);
  }

  async untilFree(call: number, isAwaited: () => void): Promise<void> {
    await this.#sleepUntil(this.#slots[slotOf(call)].freed, turnOf(call) - 1, isAwaited);
  }

  put(call: number, { signature, signals, data }: SlotContent): void {
    const start = this.#startOf(call, this.#position);
    this.#words.set([signature, signals.controls, Number(signals.halt), Number(data !== null)], start / 4);
    if (data !== null) {
      const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
      new Uint8Array(this.#buffer, start + headBytes, bytes.length).set(bytes);
    }
    this.#lastPut = call;
    const { puts, filled } = this.#slots[slotOf(call)];
    if (puts.incrementsTo(this.#worldSize * turnOf(call))) filled.advance(turnOf(call));
  }

  fillsSoon(call: number): boolean {
    return this.#slots[slotOf(call)].filled.comesSoon(turnOf(call), this.#spins);
  }

  /** The process sleeps meanwhile. */
  async untilFilled(call: number, isAwaited: () => void): Promise<void> {
    await this.#sleepUntil(this.#slots[slotOf(call)].filled, turnOf(call), isAwaited);
  }

  read(call: number, { dataType, shape }: CollectiveCall): SlotContent[] {
    return Array.from({ length: this.#worldSize }, (_, position) => {
      const start = this.#startOf(call, position);
      const head = start / 4;
      const signals = { controls: this.#words[head + 1], halt: this.#words[head + 2] === 1 };
      const hasData = this.#words[head + 3] === 1;
      const data = hasData ? viewArray(dataType, this.#buffer, start + headBytes, elementCount(shape)) : null;
      return { signature: this.#words[head], signals, data, sends: hasData };
    });
  }

  release(call: number): void {
    const { reads, freed } = this.#slots[slotOf(call)];
    if (reads.incrementsTo(this.#worldSize * turnOf(call))) freed.advance(turnOf(call));
  }

  async #sleepUntil(word: MappedWord, value: number, isAwaited: () => void): Promise<void> {
    while (!word.sleepUntil(value, this.#spins, this.#timespecAddress)) {
      await setImmediate();
      isAwaited();
    }
  }

  #startOf(call: number, position: number): number {
    return pageBytes + position * rankBytes + slotOf(call) * (headBytes + roomBytes);
  }
}

/** Counters of one slot. Each turn adds the number of ranks to `puts` and `reads`, and 1 to `filled` and `freed`. */
interface SlotWords {
  puts: MappedWord;
  filled: MappedWord;
  reads: MappedWord;
  freed: MappedWord;
}

function wordsOf(slot: number, futex: Futex, mapping: Mapping): SlotWords {
  const word = (index: number): MappedWord => new MappedWord(futex, mapping, (4 * slot + index) * wordBytes);
  return { puts: word(0), filled: word(1), reads: word(2), freed: word(3) };
}

const slotOf = (call: number): number => call % slotCount;
const turnOf = (call: number): number => Math.ceil(call / slotCount);

/** One rank's part of a call. */
export interface SlotContent {
  /** The same on all ranks that make the same call. */
  signature: number;
  signals: ControlSignals;
  /** Null where the rank has no array, or it is too large for a slot. */
  data: CollectiveArray | null;
  /** Whether the rank has an array. */
  sends: boolean;
}

/** Where small arrays of the ranks meet, without the hub: a few slots, used in turn. Calls are numbered from 1. */
export interface Slots {
  /** Bytes of the largest array. */
  readonly slotBytes: number;
  /** Whether a call can be put: all before it have been, and all ranks have read its slot. */
  isFree(call: number): boolean;
  /** Resolves once {@link isFree}, if all calls before have been put. */
  untilFree(call: number, isAwaited: () => void): Promise<void>;
  /** Puts this rank's part where the others can read it. */
  put(call: number, content: SlotContent): void;
  /** Whether all ranks have put their parts, now or within some microseconds. */
  fillsSoon(call: number): boolean;
  /**
   * Resolves once all ranks have put their parts.
   * @param isAwaited called every few milliseconds; ends the wait by throwing
   */
  untilFilled(call: number, isAwaited: () => void): Promise<void>;
  /** The parts of all ranks, in rank order. Arrays are views, for reading only, valid until {@link release}. */
  read(call: number, what: CollectiveCall): SlotContent[];
  /** Marks the call's slot as read by this rank. */
  release(call: number): void;
}
