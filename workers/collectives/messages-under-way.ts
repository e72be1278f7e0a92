import { dataTypeOf } from '../../core/protocol/wire/arrays.ts';
import {
  type CollectiveArray,
  type CollectiveCall,
  CollectiveError,
  describeCall,
  noSignals,
} from '../../core/protocol/wire/collectives.ts';
import type { CollectiveResult } from '../../core/protocol/wire/frames.ts';
import type { CollectiveLink } from './calls-under-way.ts';

/** A rank that has waited this long tells the relay, which detects ranks that never send. */
const patienceMs = 50;

/** An array from another rank. */
export interface Message {
  data: CollectiveArray;
  shape: readonly number[];
}

/** What came from one rank, and who waits for it. */
interface Inbox {
  /** Messages that nobody has received yet, in their order. */
  arrived: Message[];
  waiting: PromiseWithResolvers<Message> | null;
  sent: number;
  received: number;
}

/** A rank's messages to and from single ranks, through the hub's relay. They fail together with the group's collectives. */
export class MessagesUnderWay {
  readonly #rank: number;
  readonly #link: CollectiveLink | null;
  /** By the other rank. */
  readonly #inboxes = new Map<number, Inbox>();
  #failure: Error | null = null;

  constructor(rank: number, link: CollectiveLink | null) {
    this.#rank = rank;
    this.#link = link;
  }

  send({ data, shape }: Message, to: number): void {
    const inbox = this.#inbox(to);
    const call = callOf({ operation: 'send', root: to, dataType: dataTypeOf(data), shape, sequence: inbox.sent + 1 });
    if (this.#failure !== null) throw this.#error(call, this.#failure);
    inbox.sent += 1;
    this.#link?.send({ kind: 'collective', phase: 'request', call, signals: noSignals, data });
  }

  async receive(from: number): Promise<Message> {
    const inbox = this.#inbox(from);
    inbox.received += 1;
    const call = callOf({
      operation: 'receive',
      root: from,
      dataType: 'uint8',
      shape: [],
      sequence: inbox.received,
    });
    if (inbox.waiting !== null) throw new Error(`${describeCall(call)} was called before the last one had ended.`);
    const next = inbox.arrived.shift();
    if (next !== undefined) return next;
    if (this.#failure !== null) throw this.#error(call, this.#failure);
    inbox.waiting = Promise.withResolvers();
    const withdraw = this.#announce(call);
    try {
      return await inbox.waiting.promise;
    } catch (error) {
      throw this.#error(call, error as Error);
    } finally {
      withdraw();
    }
  }

  /** Takes a message from the relay. */
  take({ call, data }: CollectiveResult): void {
    if (call.root === null || data === null) return;
    const inbox = this.#inbox(call.root);
    const message = { data, shape: call.shape };
    if (inbox.waiting === null) inbox.arrived.push(message);
    else inbox.waiting.resolve(message);
    // The next message may come before the receiver runs.
    inbox.waiting = null;
  }

  fail(error: Error): void {
    this.#failure ??= error;
    for (const { waiting } of this.#inboxes.values()) waiting?.reject(error);
  }

  /** Tells the relay of a wait that takes longer than usual. @returns a function that ends it */
  #announce(call: CollectiveCall): () => void {
    const tell = (stage: 'awaited' | 'withdrawn'): void => {
      if (this.#failure !== null) return;
      const request = { kind: 'collective', phase: 'request', signals: noSignals, data: null } as const;
      this.#link?.send({ ...request, call: { ...call, stage } });
    };
    let isTold = false;
    const timer = setTimeout(() => {
      isTold = true;
      tell('awaited');
    }, patienceMs);
    return () => {
      clearTimeout(timer);
      if (isTold) tell('withdrawn');
    };
  }

  #inbox(other: number): Inbox {
    const inbox = this.#inboxes.get(other) ?? { arrived: [], waiting: null, sent: 0, received: 0 };
    this.#inboxes.set(other, inbox);
    return inbox;
  }

  #error(call: CollectiveCall, cause: Error): CollectiveError {
    return new CollectiveError(`${describeCall(call)}, failed on rank ${this.#rank}: ${cause.message}`, { cause });
  }
}

function callOf(what: Pick<CollectiveCall, 'operation' | 'root' | 'dataType' | 'shape' | 'sequence'>): CollectiveCall {
  return { ...what, reduce: null, distance: null, stage: 'whole' };
}
