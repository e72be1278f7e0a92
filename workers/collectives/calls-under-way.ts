import { bytesPerElement } from '../../core/protocol/wire/arrays.ts';
import {
  checkCall,
  type CollectiveArray,
  type CollectiveCall,
  CollectiveError,
  describeCall,
  noWishes,
  type Wishes,
} from '../../core/protocol/wire/collectives.ts';
import type { CollectiveFrame } from '../../core/protocol/wire/frames.ts';
import { AgreedWishes } from './agreed-wishes.ts';
import { MemoryExchange, type Operands, type Request } from './memory/memory-exchange.ts';
import type { MappedSlots } from './memory/mapped-slots.ts';
import type { SharedMemory } from './memory/shared-memory.ts';
import { type SlotAnswer, SlotExchange } from './memory/slot-exchange.ts';

/** Where a group's requests go: the worker's channel to the hub. */
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

/** A rank's collectives from call to answer: through the hub's relay, or through memory. They fail together. */
export class CallsUnderWay {
  readonly statistics: CollectiveStatistics = { count: 0, bytesSent: 0, bytesReceived: 0 };
  readonly agreed = new AgreedWishes();
  /** What this rank tells the others with every collective it calls. */
  wishes: Wishes = noWishes;
  readonly #rank: number;
  readonly #ranks: readonly number[];
  /** Null for a group of one. */
  readonly #link: CollectiveLink | null;
  readonly #large: MemoryExchange | null;
  #small: SlotExchange | null = null;
  /** What the hub has not answered yet, and what goes on in memory without it, by sequence number. */
  readonly #pending = new Map<number, PendingCall>();
  readonly #inSlots = new Map<number, Promise<SlotAnswer>>();
  #failure: Error | null = null;

  constructor(rank: number, ranks: readonly number[], link: CollectiveLink | null, memory: SharedMemory | null) {
    this.#rank = rank;
    this.#ranks = ranks;
    this.#link = link;
    this.#large = memory === null ? null : new MemoryExchange(memory, rank, ranks.length);
  }

  /** Has small arrays go through memory from now on, on all ranks. */
  useSlots(slots: MappedSlots): void {
    const link = this.#link;
    if (link === null) throw new TypeError('A group of one has nobody to share slots with.');
    const tell = (call: CollectiveCall): void =>
      link.send({ kind: 'collective', phase: 'request', call, wishes: noWishes, data: null });
    this.#small = new SlotExchange(slots, { rank: this.#rank, ranks: this.#ranks, tell });
  }

  /** Null where the answer brings nothing, or lies where it is wanted. */
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

  /** Takes what the hub's relay sent. */
  receive(frame: CollectiveFrame): void {
    if (frame.phase === 'failure') return this.fail(new CollectiveError(frame.reason));
    const { sequence } = frame.call;
    const pending = this.#pending.get(sequence);
    if (frame.phase === 'request' || pending === undefined) {
      if (this.#failure !== null) return;
      return this.fail(new CollectiveError(`The hub sent a ${frame.phase} for ${describeCall(frame.call)}, unasked.`));
    }
    this.#pending.delete(sequence);
    this.#heard(sequence, frame.wishes, frame.data);
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
    this.agreed.hear(this.wishes, sequence);
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
    const answer = small.run(call, this.wishes, operands);
    this.#inSlots.set(call.sequence, answer);
    this.statistics.bytesSent += (operands.data?.length ?? 0) * bytesPerElement(call.dataType);
    try {
      const { wishes, data: received } = await answer;
      this.#heard(call.sequence, wishes, received);
      return received;
    } catch (error) {
      // Arrays that cannot be combined are the same on all ranks: each finds that by itself.
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
      link.send({ kind: 'collective', phase: 'request', call, wishes: this.wishes, data });
    } catch (error) {
      this.#failWith(error);
    }
    return await answer.promise;
  }

  #heard(sequence: number, wishes: Wishes, data: CollectiveArray | null): void {
    this.agreed.hear(wishes, sequence);
    this.statistics.bytesReceived += data?.byteLength ?? 0;
  }

  /** @returns why the group has failed, which may be something earlier */
  #failWith(error: unknown): Error {
    const reason = error instanceof Error ? error : new Error(String(error));
    this.fail(reason);
    return this.#failure ?? reason;
  }

  #callError(call: CollectiveCall, cause: Error): CollectiveError {
    return new CollectiveError(`${describeCall(call)}, failed on rank ${this.#rank}: ${cause.message}`, { cause });
  }
}
