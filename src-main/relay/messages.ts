import { TimeLimit } from '../../core/node/time-limit.ts';
import { type CollectiveCall, CollectiveError, describeCall } from '../../core/protocol/wire/collectives.ts';
import type { CollectiveFrame, CollectiveRequest } from '../../core/protocol/wire/frames.ts';
import type { Patience } from './open-collectives.ts';

export interface MessageRelay {
  deliver(rank: number, frame: CollectiveFrame): void;
  isMember(rank: number): boolean;
  timeOut(missing: number[], what: string): void;
}

/** A rank that waits for a message of another one. */
interface Wait {
  call: CollectiveCall;
  from: number;
  /** Null while the group is held. */
  limit: TimeLimit | null;
}

/**
 * Messages from rank to rank. The relay passes them on, in their order. A rank that waits longer than usual tells the
 * relay (`receive`, stage `awaited`), also for messages that travel in memory. When a wait exceeds the limit, the rank
 * at the end of the chain of waits is missing: in a pipeline every stage waits for the one before or after it.
 */
export class MessagesOfGroup {
  readonly #patience: Patience;
  readonly #relay: MessageRelay;
  /** The waits by the rank that waits: each waits for one message at a time. */
  readonly #waits = new Map<number, Wait>();
  /** Number of the last message, by `<sender> <receiver>`. */
  readonly #counts = new Map<string, number>();
  readonly #slow = new Set<number>();
  #isHeld = false;

  constructor(patience: Patience, relay: MessageRelay) {
    this.#patience = patience;
    this.#relay = relay;
  }

  /** Takes a `send` or `receive` of a rank. */
  take(rank: number, request: CollectiveRequest): void {
    const { call } = request;
    const { root } = call;
    if (root === null || root === rank || !this.#relay.isMember(root)) {
      throw new CollectiveError(`Rank ${rank} called ${describeCall(call)}, which is no other rank of its group.`);
    }
    if (call.operation === 'send') return this.#pass(rank, root, request);
    if (call.stage === 'withdrawn') return this.#withdraw(rank);
    this.#withdraw(rank);
    const wait: Wait = { call, from: root, limit: null };
    this.#waits.set(rank, wait);
    if (!this.#isHeld) this.#startLimit(wait);
  }

  hold(): void {
    this.#isHeld = true;
    for (const wait of this.#waits.values()) stop(wait);
  }

  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    for (const wait of this.#waits.values()) this.#startLimit(wait);
  }

  close(): void {
    for (const wait of this.#waits.values()) stop(wait);
    this.#waits.clear();
  }

  #pass(rank: number, to: number, { call, data }: CollectiveRequest): void {
    const pair = `${rank} ${to}`;
    const newest = this.#counts.get(pair) ?? 0;
    // Messages that travel in memory have numbers, too.
    if (call.sequence <= newest || data === null) {
      throw new CollectiveError(`Rank ${rank} called ${describeCall(call)}, after number ${newest}.`);
    }
    this.#counts.set(pair, call.sequence);
    const signals = { controls: 0, halt: false };
    this.#relay.deliver(to, { kind: 'collective', phase: 'result', call: { ...call, root: rank }, signals, data });
  }

  #withdraw(rank: number): void {
    const wait = this.#waits.get(rank);
    if (wait === undefined) return;
    stop(wait);
    this.#waits.delete(rank);
    if (this.#slow.delete(wait.from)) this.#patience.onBack(wait.from);
  }

  #startLimit(wait: Wait): void {
    const limitMs = this.#patience.timeoutMs();
    const stepsOf = (rank: number): number => this.#patience.stepsOf(rank);
    const first = this.#missing(wait);
    const steps = stepsOf(first);
    const exceed = (): void => {
      const missing = this.#missing(wait);
      if (missing !== first || stepsOf(missing) > steps) return this.#startLimit(wait);
      const what =
        `${describeCall(wait.call)}, timed out after ${limitMs} ms: rank ${missing} never sent what others wait ` +
        'for.';
      this.#relay.timeOut([missing], what);
    };
    const warn = (): void => {
      const missing = this.#missing(wait);
      if (missing !== first || stepsOf(missing) > steps || this.#slow.has(missing)) return;
      this.#slow.add(missing);
      this.#patience.onSlow(missing, limitMs / 2, describeCall(wait.call));
    };
    wait.limit = new TimeLimit(limitMs, exceed, { halfway: warn });
  }

  /** The rank that does not wait itself, or the last one of a circle of ranks that wait for each other. */
  #missing({ from }: Wait): number {
    const seen = new Set<number>();
    let rank = from;
    for (;;) {
      const next = this.#waits.get(rank);
      if (next === undefined || seen.has(next.from)) return rank;
      seen.add(rank);
      rank = next.from;
    }
  }
}

function stop(wait: Wait): void {
  wait.limit?.stop();
  wait.limit = null;
}
