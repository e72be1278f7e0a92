import { setImmediate } from 'node:timers/promises';
import { dataTypeOf } from '../../core/protocol/wire/arrays.ts';
import { type CollectiveCall, CollectiveError, describeCall, noSignals } from '../../core/protocol/wire/collectives.ts';
import type { CollectiveResult } from '../../core/protocol/wire/frames.ts';
import type { CollectiveLink } from './calls-under-way.ts';
import type { DirectMessages, Message } from './direct-messages.ts';

/** A rank that has waited this long tells the relay, which detects ranks that never send. */
const patienceMs = 50;
/** How often messages move on that have not left this rank, while it does something else. */
const moveEveryMs = 1;

/** What came from one rank, and who waits for it. */
interface Inbox {
  /** Messages through the hub that nobody has received yet, by number. */
  arrived: Map<number, Message>;
  /** Resolves when one more has arrived. */
  waiting: PromiseWithResolvers<void> | null;
  sent: number;
  received: number;
}

/**
 * A rank's messages to and from single ranks, in memory, by MPI, or through the hub's relay. They fail together with
 * the group's collectives.
 */
export class MessagesUnderWay {
  readonly #rank: number;
  readonly #link: CollectiveLink | null;
  #direct: DirectMessages | null = null;
  /** The inboxes by the other rank. */
  readonly #inboxes = new Map<number, Inbox>();
  #failure: Error | null = null;
  #mover: NodeJS.Timeout | null = null;

  constructor(rank: number, link: CollectiveLink | null) {
    this.#rank = rank;
    this.#link = link;
  }

  /** Messages go this way from now on, on all ranks, where they find room. */
  useDirect(direct: DirectMessages): void {
    this.#direct = direct;
  }

  send(message: Message, to: number): void {
    const { data, shape } = message;
    const inbox = this.#inbox(to);
    const call = callOf({ operation: 'send', root: to, dataType: dataTypeOf(data), shape, sequence: inbox.sent + 1 });
    if (this.#failure !== null) throw this.#error(call, this.#failure);
    inbox.sent += 1;
    if (this.#direct?.put(message, to, inbox.sent) === true) return this.#moveOn(this.#direct);
    this.#link?.send({ kind: 'collective', phase: 'request', call, signals: noSignals, data });
  }

  #moveOn(direct: DirectMessages): void {
    if (this.#mover !== null || direct.move()) return;
    this.#mover = setTimeout(() => {
      this.#mover = null;
      try {
        this.#moveOn(direct);
      } catch (error) {
        this.fail(error as Error);
      }
    }, moveEveryMs);
  }

  async receive(from: number): Promise<Message> {
    const inbox = this.#inbox(from);
    const sequence = inbox.received + 1;
    const call = callOf({ operation: 'receive', root: from, dataType: 'uint8', shape: [], sequence });
    if (inbox.waiting !== null) throw new Error(`${describeCall(call)} was called before the last one had ended.`);
    inbox.received = sequence;
    const next = this.#take(inbox, from);
    if (next instanceof Object) return next;
    inbox.waiting = Promise.withResolvers();
    inbox.waiting.promise.catch(() => undefined);
    const withdraw = this.#announce(call);
    try {
      return await this.#wait(inbox, from);
    } catch (error) {
      throw this.#error(call, error as Error);
    } finally {
      withdraw();
      inbox.waiting = null;
    }
  }

  async #wait(inbox: Inbox, from: number): Promise<Message> {
    for (;;) {
      const next = this.#take(inbox, from);
      if (next instanceof Object) return next;
      if (this.#failure !== null) throw this.#failure;
      if (this.#direct === null || next === 'by-hub') await inbox.waiting?.promise;
      else {
        // A sleep blocks the process. Let others run first.
        await setImmediate();
        this.#direct.sleep(from, inbox.received);
      }
    }
  }

  #take({ arrived, received }: Inbox, from: number): Message | 'by-hub' | null {
    const message = arrived.get(received);
    if (message === undefined) return this.#direct?.take(from, received) ?? null;
    arrived.delete(received);
    return message;
  }

  /** Takes a message from the relay. */
  take({ call, data }: CollectiveResult): void {
    if (call.root === null || data === null) return;
    const inbox = this.#inbox(call.root);
    inbox.arrived.set(call.sequence, { data, shape: call.shape });
    inbox.waiting?.resolve();
  }

  fail(error: Error): void {
    this.#failure ??= error;
    if (this.#mover !== null) clearTimeout(this.#mover);
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
    const inbox = this.#inboxes.get(other) ?? { arrived: new Map(), waiting: null, sent: 0, received: 0 };
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
