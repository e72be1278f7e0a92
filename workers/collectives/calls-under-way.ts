import { asError } from '../../core/text/errors.ts';
import { bytesPerElement, dataTypeOf } from '../../core/protocol/wire/arrays.ts';
import {
  checkCall,
  type CollectiveArray,
  type CollectiveCall,
  CollectiveError,
  type ControlSignals,
  describeCall,
  elementCount,
  isSameCall,
  mergeSignals,
  noSignals,
} from '../../core/protocol/wire/collectives.ts';
import type { CollectiveFrame } from '../../core/protocol/wire/frames.ts';
import { MemoryExchange, type Operands, type Request } from './memory/memory-exchange.ts';
import type { SharedMemory } from './memory/shared-memory.ts';
import { type LargeArrays, type SlotAnswer, SlotExchange } from './memory/slot-exchange.ts';
import type { Slots } from './memory/mapped-slots.ts';
import { stageRules } from '../../core/protocol/wire/collective-stages.ts';

/** The worker's channel to the hub, for a group's requests. */
export interface CollectiveLink {
  send(frame: CollectiveFrame): void;
}

export interface CollectiveStatistics {
  /** Collectives called so far. */
  count: number;
  /** Bytes of arrays, without headers. */
  bytesSent: number;
  bytesReceived: number;
}

interface PendingCall extends PromiseWithResolvers<CollectiveArray | null> {
  call: CollectiveCall;
}

/** A rank's collectives from call to result: through the hub's relay, or through memory. They fail together. */
export class CallsUnderWay {
  readonly statistics: CollectiveStatistics = { count: 0, bytesSent: 0, bytesReceived: 0 };
  readonly agreed = new AgreedSignals();
  /** The signals that this rank sends with every collective. */
  signals: ControlSignals = noSignals;
  onAnswer: (sequence: number) => void = () => undefined;
  readonly #rank: number;
  /**
   * Ascending. It changes with the first result of the ranks that remain, so that a caller sees the ranks of its last
   * result.
   */
  #ranks: readonly number[];
  #remaining: readonly number[];
  /** Null for a group of one. */
  readonly #link: CollectiveLink | null;
  readonly #large: MemoryExchange | null;
  #small: SlotExchange | null = null;
  /** Calls that the hub has not answered yet, and calls through memory without the hub, by sequence number. */
  readonly #pending = new Map<number, PendingCall>();
  readonly #inSlots = new Map<number, Promise<SlotAnswer>>();
  #failure: Error | null = null;

  constructor(rank: number, ranks: readonly number[], link: CollectiveLink | null, memory: SharedMemory | null) {
    this.#rank = rank;
    this.#ranks = ranks;
    this.#remaining = ranks;
    this.#link = link;
    this.#large = memory === null ? null : new MemoryExchange(memory, rank, ranks.length);
  }

  get ranks(): readonly number[] {
    return this.#ranks;
  }

  /** Results that come from now on are those of these ranks alone. */
  shrink(remaining: readonly number[]): void {
    this.#remaining = remaining;
  }

  /**
   * Sends small arrays through slots from now on, on all ranks.
   * @param large moves large ones; null: they go as before
   */
  useSlots(slots: Slots, large: LargeArrays | null = null): void {
    const link = this.#link;
    if (link === null) throw new TypeError('A group of one rank shares no slots.');
    const tell = (call: CollectiveCall): void =>
      link.send({ kind: 'collective', phase: 'request', call, signals: noSignals, data: null });
    this.#small = new SlotExchange(slots, { rank: this.#rank, ranks: this.#ranks, tell, large });
  }

  /** Null where there is no result, or it was written to `operands.into`. */
  async run(what: Omit<CollectiveCall, 'sequence' | 'stage'>, operands: Operands): Promise<CollectiveArray | null> {
    const { statistics } = this;
    const call: CollectiveCall = { ...what, sequence: statistics.count + 1, stage: 'whole' };
    if (this.#failure !== null) throw this.#callError(call, this.#failure);
    checkCall(call, this.#ranks);
    statistics.count += 1;
    if (this.#link === null) return this.#answerAlone(call, operands);
    const answer = await this.#answerOf(this.#link, call, operands);
    if (answer === null || operands.into === null) return answer;
    operands.into.set(answer);
    return null;
  }

  /** Waits for all collectives up to the marked one. */
  async untilMarked(): Promise<void> {
    const { marked } = this.agreed;
    for (const [sequence, { promise }] of this.#pending) if (sequence <= marked) await promise;
    for (const [sequence, promise] of this.#inSlots) if (sequence <= marked) await promise;
  }

  /** Handles a frame of the hub's relay. */
  receive(frame: CollectiveFrame): void {
    if (frame.phase === 'failure') return this.fail(new CollectiveError(frame.reason));
    const { sequence } = frame.call;
    const pending = this.#pending.get(sequence);
    if (frame.phase === 'request' || pending === undefined) {
      if (this.#failure !== null) return;
      return this.fail(
        new CollectiveError(
          `The hub sent a ${frame.phase} for ${describeCall(frame.call)}, which this rank did not request.`,
        ),
      );
    }
    const reason = whyNotAnswer(pending.call, frame, { rank: this.#rank, ranks: this.#remaining });
    if (reason !== null) return this.fail(new CollectiveError(`The hub ${reason}.`));
    this.#pending.delete(sequence);
    this.#ranks = this.#remaining;
    this.#count(sequence, frame.signals, frame.data);
    pending.resolve(frame.data);
  }

  fail(error: Error): void {
    if (this.#failure !== null) return;
    this.#failure = error;
    this.#small?.fail(error);
    for (const { call, reject } of this.#pending.values()) reject(this.#callError(call, error));
    this.#pending.clear();
  }

  #answerAlone({ sequence }: CollectiveCall, { data, into }: Operands): null {
    this.agreed.merge(this.signals, sequence);
    this.onAnswer(sequence);
    if (data !== null) into?.set(data.whole());
    return null;
  }

  #answerOf(link: CollectiveLink, call: CollectiveCall, operands: Operands): Promise<CollectiveArray | null> {
    const request: Request = (stage, data) => this.#request(link, stage, data);
    if (this.#large?.takes(call) === true) return this.#large.run(call, operands, request);
    if (this.#small?.takes(call) === true) return this.#throughSlots(this.#small, call, operands);
    return request(call, operands.data?.whole() ?? null);
  }

  async #throughSlots(small: SlotExchange, call: CollectiveCall, operands: Operands): Promise<CollectiveArray | null> {
    const answer = small.run(call, this.signals, operands);
    this.#inSlots.set(call.sequence, answer);
    this.statistics.bytesSent += (operands.data?.length ?? 0) * bytesPerElement(call.dataType);
    try {
      const { signals, data: received } = await answer;
      this.#count(call.sequence, signals, received);
      return received;
    } catch (error) {
      // Every rank has the same arrays, so each finds out that they cannot be combined.
      const failure = this.#failWith(error);
      throw this.#callError(call, failure);
    } finally {
      this.#inSlots.delete(call.sequence);
    }
  }

  async #request(
    link: CollectiveLink,
    call: CollectiveCall,
    data: CollectiveArray | null,
  ): Promise<CollectiveArray | null> {
    const answer = Promise.withResolvers<CollectiveArray | null>();
    this.#pending.set(call.sequence, { call, ...answer });
    this.statistics.bytesSent += data?.byteLength ?? 0;
    try {
      link.send({ kind: 'collective', phase: 'request', call, signals: this.signals, data });
    } catch (error) {
      this.#failWith(error);
    }
    return await answer.promise;
  }

  #count(sequence: number, signals: ControlSignals, data: CollectiveArray | null): void {
    this.agreed.merge(signals, sequence);
    this.onAnswer(sequence);
    this.statistics.bytesReceived += data?.byteLength ?? 0;
  }

  /** @returns the reason for the group's failure, which may be an earlier one */
  #failWith(error: unknown): Error {
    const reason = asError(error);
    this.fail(reason);
    return this.#failure ?? reason;
  }

  #callError(call: CollectiveCall, cause: Error): CollectiveError {
    return new CollectiveError(`${describeCall(call)}, failed on rank ${this.#rank}: ${cause.message}`, { cause });
  }
}

/** The signals of all ranks up to a marked collective: the same on every rank that has marked the same one. */
class AgreedSignals {
  /** Sequence number of the marked collective. */
  marked = 0;
  #newest: ControlSignals = noSignals;
  #agreed: ControlSignals = noSignals;

  get agreed(): ControlSignals {
    return this.#agreed;
  }

  mark(sequence: number): void {
    this.marked = sequence;
    this.#agreed = this.#newest;
  }

  /** Merges the signals that a collective returned. Signals only grow, so the order of answers does not matter. */
  merge(signals: ControlSignals, sequence: number): void {
    this.#newest = mergeSignals([this.#newest, signals]);
    if (sequence <= this.marked) this.#agreed = mergeSignals([this.#agreed, signals]);
  }
}

/**
 * Why an answer of the hub cannot be the one to a rank's call: it is that of another call, or of another type or
 * length. An array that is too short would leave old values in place.
 * @param call the call of this rank
 * @param ranks the ranks whose arrays the answer holds, M
 * @returns the end of a sentence about the hub; null if the answer fits
 */
export function whyNotAnswer(
  call: CollectiveCall,
  answer: { call: CollectiveCall; data: CollectiveArray | null },
  { rank, ranks }: { rank: number; ranks: readonly number[] },
): string | null {
  // An answer's shape is that of its own array.
  if (!isSameCall(call, { ...answer.call, shape: call.shape }))
    return `answered ${describeCall(call)} with that of ${describeCall(answer.call)}`;
  const expected = expectedLength(call, rank, ranks.length);
  const { data } = answer;
  if (data === null)
    return expected === 0 || call.operation === 'shift' ? null : `answered ${describeCall(call)} with no array`;
  if (data.length === expected && dataTypeOf(data) === call.dataType) return null;
  return `answered ${describeCall(call)} with ${dataTypeOf(data)}[${data.length}], not ${call.dataType}[${expected}]`;
}

/** Elements of the answer's array: M n for an all-gather of n, n / M for a reduce-scatter; 0 where there is none. */
function expectedLength(call: CollectiveCall, rank: number, rankCount: number): number {
  const { arraysIn, answered } = stageRules[call.stage];
  if (arraysIn === 'memory' || answered !== 'when all ranks ask' || call.operation === 'barrier') return 0;
  const length = elementCount(call.shape);
  if (call.operation === 'all-gather') return rankCount * length;
  if (call.operation === 'reduce-scatter') return length / rankCount;
  return call.root === rank ? 0 : length;
}
