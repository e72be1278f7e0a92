import { type DataType, dataTypeOf } from '../../core/protocol/wire/arrays.ts';
import {
  type CollectiveArray,
  type CollectiveCall,
  CollectiveError,
  elementCount,
  isMessage,
  type ReduceOperation,
  type ControlSignals,
} from '../../core/protocol/wire/collectives.ts';
import type { CollectiveFrame } from '../../core/protocol/wire/frames.ts';
import { CallsUnderWay, type CollectiveLink, type CollectiveStatistics } from './calls-under-way.ts';
import type { Message } from './direct-messages.ts';
import { MessagesUnderWay } from './messages-under-way.ts';
import { Parts } from './parts.ts';
import type { CommonMemory, SharedMemory } from './memory/shared-memory.ts';
import type { MpiGroup } from './mpi/mpi-world.ts';

type CallDetails = Pick<CollectiveCall, 'operation'> &
  Partial<Pick<CollectiveCall, 'reduce' | 'shape' | 'root' | 'distance'>>;

/**
 * The ranks that train together, seen from one of them. Every rank must make the same calls in the same order; several
 * calls may be pending at a time. Arrays are sent without a copy: do not change one before its call has settled.
 *
 * When ranks disagree, one leaves or one does not come in time, the group fails: every pending and every later call
 * rejects with a `CollectiveError`.
 */
export class ProcessGroup {
  /** This rank's global index. */
  readonly rank: number;
  readonly #size: number;
  readonly #memory: SharedMemory | null;
  readonly #calls: CallsUnderWay;
  readonly #messages: MessagesUnderWay;

  /**
   * @param link the channel to the hub; null for a group of one rank
   * @param memory shared memory for large arrays, if there is any
   */
  constructor(rank: number, ranks: readonly number[], link: CollectiveLink | null, memory: SharedMemory | null = null) {
    if (!ranks.includes(rank))
      throw new RangeError(`Rank ${rank} is not in its own group of ranks ${ranks.join(', ')}.`);
    if (link === null && ranks.length > 1) throw new TypeError(`A group of ${ranks.length} ranks needs a link.`);
    this.rank = rank;
    this.#size = ranks.length;
    this.#memory = ranks.length > 1 ? memory : null;
    const ascending = [...ranks].sort((first, second) => first - second);
    this.#calls = new CallsUnderWay(rank, ascending, ranks.length > 1 ? link : null, memory);
    this.#messages = new MessagesUnderWay(rank, link);
  }

  /** A group of one rank: every collective returns a copy of its input. */
  static alone(rank: number): ProcessGroup {
    return new ProcessGroup(rank, [rank], null);
  }

  /**
   * Global indices of the group's M ranks, ascending: those that took part in the last collective, if ranks were lost.
   */
  get ranks(): readonly number[] {
    return this.#calls.ranks;
  }

  /** Number of ranks that were lost since the group began. */
  get lostCount(): number {
    return this.#size - this.ranks.length;
  }

  /** The group continues with these ranks: later collectives are theirs alone. For groups without shared memory. */
  shrink(remaining: readonly number[]): void {
    this.#calls.shrink(remaining);
  }

  /** M, the number of ranks. */
  get worldSize(): number {
    return this.ranks.length;
  }

  get statistics(): Readonly<CollectiveStatistics> {
    return this.#calls.statistics;
  }

  /** The signals that this rank sends with every collective. They must only grow: more controls, a halt for good. */
  set signals(signals: ControlSignals) {
    this.#calls.signals = signals;
  }

  /**
   * Called with the number of each collective that all ranks have called, once this rank knows it and before it uses
   * the result.
   */
  set onAnswer(onAnswer: (sequence: number) => void) {
    this.#calls.onAnswer = onAnswer;
  }

  /**
   * Sends small arrays through memory from now on, if all ranks can map each other's: for ranks that exchange at every
   * step. All ranks must call it.
   */
  async mapSlots(): Promise<void> {
    const slots = await this.#mapOnAll((memory) => memory.createSlotFile());
    if (slots !== null) this.#calls.useSlots(slots);
  }

  /**
   * Sends messages to single ranks through memory from now on, if all ranks can. All ranks must call it before their
   * first message.
   */
  async mapMessages(): Promise<void> {
    const messages = await this.#mapOnAll((memory) => memory.createMessageBoard());
    if (messages !== null) this.#messages.useDirect(messages);
  }

  /** Maps memory if all ranks can, on all. */
  async #mapOnAll<T>(create: (memory: SharedMemory) => Promise<CommonMemory<T> | null>): Promise<T | null> {
    if (this.#memory === null) return null;
    const common = await create(this.#memory);
    const [allCan] = await this.allReduce(Uint8Array.of(Number(common !== null)), 'min');
    const mapped = allCan === 1 && common !== null ? common.map() : null;
    await this.barrier();
    common?.unlink();
    return mapped;
  }

  /** Sends all arrays by MPI from now on. All ranks must call it, before their first collective or message. */
  useMpi({ slots, large, messages }: MpiGroup): void {
    this.#calls.useSlots(slots, large);
    this.#messages.useDirect(messages);
  }

  /**
   * Every rank's array, ordered by rank: M views of one buffer.
   * @param shape must be the same on all ranks
   * @param into the buffer for the result, M times as long as `array`
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
   * Combines the arrays of all ranks, element by element and in rank order, so that every rank gets the same bits. A
   * sum of floats is rounded to the array's type after each rank. A sum of integers that does not fit the type, and a
   * mean of integers, are errors. Min and max are NaN where any rank has NaN.
   * @param into where to write the result; may be `array` itself, which saves time for large arrays
   */
  async allReduce<T extends CollectiveArray>(array: T, operation: ReduceOperation, into?: T): Promise<T> {
    return await this.#exchange({ operation: 'all-reduce', reduce: operation }, array, array, into);
  }

  /** Like {@link allReduce} in place, for an array that lies in several parts. Other ranks' parts may differ. */
  async allReduceParts(parts: Parts, dataType: DataType, operation: ReduceOperation): Promise<void> {
    const call = { ...noDetails, operation: 'all-reduce', reduce: operation, dataType, shape: [parts.length] } as const;
    await this.#calls.run(call, { data: parts, into: parts });
  }

  /** Returns the array of rank `root` (a global rank). All ranks pass an array of the same type and length. */
  async broadcast<T extends CollectiveArray>(array: T, root: number): Promise<T> {
    return await this.#exchange({ operation: 'broadcast', root }, array, root === this.rank ? array : null);
  }

  /**
   * Returns this rank's slice of the combined array (see `allReduce`): the i-th of M equal slices for the i-th rank.
   * @param into where to write it, not a part of `array`
   */
  async reduceScatter<T extends CollectiveArray>(array: T, operation: ReduceOperation, into?: T): Promise<T> {
    return await this.#exchange({ operation: 'reduce-scatter', reduce: operation }, array, array, into);
  }

  /**
   * The array of the rank `distance` places further up in rank order; null where there is no such rank, or it does not
   * send. All ranks pass an array of the same type and length.
   * @param sends whether this rank sends its array
   */
  async shift<T extends CollectiveArray>(array: T, distance: number, sends: boolean): Promise<T | null> {
    const received = await this.#call({ operation: 'shift', distance }, array, sends ? array : null);
    return received === null ? null : withTypeOf(array, received);
  }

  /**
   * Sends an array to one other rank, which receives it in the order of this rank's messages to it. It does not wait
   * for that. The array must not change afterwards.
   */
  send(array: CollectiveArray, to: number, shape: readonly number[] = [array.length]): void {
    this.#requireOther(to);
    this.#messages.send({ data: array, shape }, to);
  }

  /**
   * The next array that another rank has sent to this one, and its shape. Call it for one message of a rank at a time.
   */
  async receiveFrom(from: number): Promise<Message> {
    this.#requireOther(from);
    return await this.#messages.receive(from);
  }

  /** Resolves once every rank has called it. */
  async barrier(): Promise<void> {
    await this.#exchange({ operation: 'barrier' }, nothing, null);
  }

  /** Marks the last collective for {@link agreed}. */
  mark(): void {
    this.#calls.agreed.mark(this.#calls.statistics.count);
  }

  /**
   * The merged signals of all ranks up to the marked collective: the same on every rank that has marked the same one.
   * Waits for the hub's answer to that collective, which may come after its result.
   */
  async agreed(): Promise<ControlSignals> {
    await this.#calls.untilMarked();
    return this.#calls.agreed.agreed;
  }

  /** Handles a frame of the hub's relay. */
  receive(frame: CollectiveFrame): void {
    if (frame.phase === 'result' && isMessage(frame.call)) return this.#messages.take(frame);
    this.#calls.receive(frame);
    if (frame.phase === 'failure') this.#messages.fail(new CollectiveError(frame.reason));
  }

  /** Fails the group on this rank, for instance because the channel broke. The first reason counts. */
  fail(error: Error): void {
    this.#calls.fail(error);
    this.#messages.fail(error);
  }

  #requireOther(rank: number): void {
    if (rank !== this.rank && this.ranks.includes(rank)) return;
    throw new RangeError(
      `Rank ${this.rank} exchanges messages with other ranks of ${this.ranks.join(', ')}, not with ${rank}.`,
    );
  }

  /** The result, in `into` where that is given; a copy of `array` where that is the result. */
  async #exchange<T extends CollectiveArray>(
    what: CallDetails,
    array: T,
    data: T | null = array,
    into: T | null = null,
  ): Promise<T> {
    return withTypeOf(array, (await this.#call(what, array, data, into)) ?? into ?? array.slice());
  }

  /** @param data what the others need of `array` @returns null where there is no result */
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

/** Narrows a result to the type of the array that was passed in. */
function withTypeOf<T extends CollectiveArray>(array: T, answer: CollectiveArray): T {
  if (hasTypeOf(array, answer)) return answer;
  throw new CollectiveError(`The hub answered with ${dataTypeOf(answer)} to ${dataTypeOf(array)}.`);
}

function hasTypeOf<T extends CollectiveArray>(array: T, answer: CollectiveArray): answer is T {
  return dataTypeOf(answer) === dataTypeOf(array);
}
