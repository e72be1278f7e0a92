import { type DataType, dataTypeOf } from '../../core/protocol/wire/arrays.ts';
import {
  type CollectiveArray,
  type CollectiveCall,
  CollectiveError,
  elementCount,
  type ReduceOperation,
  type Wishes,
} from '../../core/protocol/wire/collectives.ts';
import type { CollectiveFrame } from '../../core/protocol/wire/frames.ts';
import { CallsUnderWay, type CollectiveLink, type CollectiveStatistics } from './calls-under-way.ts';
import { Parts } from './parts.ts';
import type { SharedMemory } from './memory/shared-memory.ts';

type CallDetails = Pick<CollectiveCall, 'operation'> &
  Partial<Pick<CollectiveCall, 'reduce' | 'shape' | 'root' | 'distance'>>;

/**
 * The ranks that train together, seen from one of them. Every rank must make the same calls in the same order; several
 * may be under way at once. Arrays are sent without a copy: one that was passed in must not change until its call has
 * settled.
 *
 * Once anything goes wrong (ranks disagree, one left, one did not come in time) the group has failed: every pending and
 * every later call rejects with a {@link CollectiveError} at once.
 */
export class ProcessGroup {
  /** This member's global index. */
  readonly rank: number;
  /** Global indices of the group's M members, ascending. */
  readonly ranks: readonly number[];
  readonly #memory: SharedMemory | null;
  readonly #calls: CallsUnderWay;

  /** `link` may be null for a group of one, which needs nobody. Large arrays go through `memory`, if there is one. */
  constructor(rank: number, ranks: readonly number[], link: CollectiveLink | null, memory: SharedMemory | null = null) {
    if (!ranks.includes(rank))
      throw new RangeError(`Rank ${rank} is not in its own group of ranks ${ranks.join(', ')}.`);
    if (link === null && ranks.length > 1) throw new TypeError(`A group of ${ranks.length} ranks needs a link.`);
    this.rank = rank;
    this.ranks = [...ranks].sort((first, second) => first - second);
    this.#memory = ranks.length > 1 ? memory : null;
    this.#calls = new CallsUnderWay(rank, this.ranks, ranks.length > 1 ? link : null, memory);
  }

  /** A group of one rank: every collective gives back a copy of what went in. */
  static alone(rank: number): ProcessGroup {
    return new ProcessGroup(rank, [rank], null);
  }

  get worldSize(): number {
    return this.ranks.length;
  }

  get statistics(): Readonly<CollectiveStatistics> {
    return this.#calls.statistics;
  }

  /** What this rank tells the others with every collective it calls. It must only grow: more controls, a halt for good. */
  set wishes(wishes: Wishes) {
    this.#calls.wishes = wishes;
  }

  /**
   * Has small arrays go through memory from now on, if all ranks can map each other's: for ranks that exchange at every step. All ranks call
   * it before such steps.
   */
  async mapSlots(): Promise<void> {
    if (this.#memory === null) return;
    const file = await this.#memory.createSlotFile();
    const [allCan] = await this.allReduce(Uint8Array.of(Number(file !== null)), 'min');
    if (allCan === 1 && file !== null) this.#calls.useSlots(file.map());
    await this.barrier();
    file?.unlink();
  }

  /**
   * Every rank's array, ordered by rank: M arrays, which are views of one buffer: of `into`, if given, which has M times the length. `shape`
   * takes part in the check that ranks agree.
   */
  async allGather<T extends CollectiveArray>(
    array: T,
    shape: readonly number[] = [array.length],
    into?: T,
  ): Promise<T[]> {
    if (elementCount(shape) !== array.length) {
      throw new RangeError(`An array of ${array.length} elements does not have the shape [${shape.join(', ')}].`);
    }
    const gathered = await this.#exchange({ operation: 'all-gather', shape }, array, array, into);
    return this.ranks.map((_, position) => {
      const start = position * array.length;
      return withTypeOf(array, gathered.subarray(start, start + array.length));
    });
  }

  /**
   * One array combined from all ranks', element by element and in rank order, so that every rank gets the same bits.
   * A sum of floats is rounded to the array's type after each rank; a sum of integers that does not fit the type, and a
   * mean of integers, are errors; min and max give NaN where any rank has NaN. The result is written to `into` where that is
   * given, which may be `array` itself: for large arrays that saves the time to make new ones.
   */
  async allReduce<T extends CollectiveArray>(array: T, operation: ReduceOperation, into?: T): Promise<T> {
    return await this.#exchange({ operation: 'all-reduce', reduce: operation }, array, array, into);
  }

  /** As {@link allReduce}, of an array that lies in several places, where the result is written as well. Other ranks' may lie otherwise. */
  async allReduceParts(parts: Parts, dataType: DataType, operation: ReduceOperation): Promise<void> {
    const call = { ...noDetails, operation: 'all-reduce', reduce: operation, dataType, shape: [parts.length] } as const;
    await this.#calls.run(call, { data: parts, into: parts });
  }

  /** The array of rank `root` (a global rank). All ranks pass an array of the same type and length. */
  async broadcast<T extends CollectiveArray>(array: T, root: number): Promise<T> {
    return await this.#exchange({ operation: 'broadcast', root }, array, root === this.rank ? array : null);
  }

  /** This rank's slice of the combined array (see `allReduce`): the i-th of M equal slices for the i-th of the ranks. */
  async reduceScatter<T extends CollectiveArray>(array: T, operation: ReduceOperation): Promise<T> {
    return await this.#exchange({ operation: 'reduce-scatter', reduce: operation }, array);
  }

  /**
   * The array of the rank `distance` places further up in the order of ranks; null where there is none, or where that rank does not send.
   * All ranks pass an array of the same type and length.
   */
  async shift<T extends CollectiveArray>(array: T, distance: number, sends: boolean): Promise<T | null> {
    const received = await this.#call({ operation: 'shift', distance }, array, sends ? array : null);
    return received === null ? null : withTypeOf(array, received);
  }

  /** Resolves once every rank has called it. */
  async barrier(): Promise<void> {
    await this.#exchange({ operation: 'barrier' }, nothing, null);
  }

  /** Has {@link agreed} speak of the collective called last. */
  mark(): void {
    this.#calls.agreed.mark(this.#calls.statistics.count);
  }

  /**
   * What the ranks wished, all together, when they called the marked collective: the same on every rank that has marked the same
   * one, whatever was answered since. Waits until the hub has answered that one, which may be after its result was there.
   */
  async agreed(): Promise<Wishes> {
    await this.#calls.untilMarked();
    return this.#calls.agreed.agreed;
  }

  /** Takes what the hub's relay sent. */
  receive(frame: CollectiveFrame): void {
    this.#calls.receive(frame);
  }

  /** Fails the group from this side, for instance because the channel broke. The first reason stays. */
  fail(error: Error): void {
    this.#calls.fail(error);
  }

  /** The answer, in `into` where that is given; a copy of `array` where that is the answer. */
  async #exchange<T extends CollectiveArray>(
    what: CallDetails,
    array: T,
    data: T | null = array,
    into: T | null = null,
  ): Promise<T> {
    return withTypeOf(array, (await this.#call(what, array, data, into)) ?? into ?? array.slice());
  }

  /** `data` is what the others need of `array`. Null where the answer brings nothing. */
  async #call(
    what: CallDetails,
    array: CollectiveArray,
    data: CollectiveArray | null,
    into: CollectiveArray | null = null,
  ): Promise<CollectiveArray | null> {
    const call = { ...noDetails, dataType: dataTypeOf(array), shape: [array.length], ...what };
    const partsOf = (of: CollectiveArray | null): Parts | null => (of === null ? null : Parts.of(of));
    return await this.#calls.run(call, { data: partsOf(data), into: partsOf(into) });
  }
}

const nothing = new Uint8Array(0);
const noDetails = { reduce: null, root: null, distance: null };

/** Narrows an answer to the type of the array that was passed in. */
function withTypeOf<T extends CollectiveArray>(array: T, answer: CollectiveArray): T {
  if (hasTypeOf(array, answer)) return answer;
  throw new CollectiveError(`The hub answered with ${dataTypeOf(answer)} to ${dataTypeOf(array)}.`);
}

function hasTypeOf<T extends CollectiveArray>(array: T, answer: CollectiveArray): answer is T {
  return dataTypeOf(answer) === dataTypeOf(array);
}
