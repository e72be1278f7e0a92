import { TimeLimit } from '../../core/node/time-limit.ts';
import { type CollectiveCall, describeCall } from '../../core/protocol/wire/collectives.ts';
import type { CollectiveRequest } from '../../core/protocol/wire/frames.ts';

export interface Patience {
  /** How long the first rank to call waits for one that does no steps meanwhile; read when a collective opens. */
  timeoutMs(): number;
  /** Steps that a rank has done, as last reported. */
  stepsOf(rank: number): number;
  /** Half of the timeout has passed, and others wait in a collective for this rank, which does no steps. */
  onSlow(rank: number, waitedMs: number, call: string): void;
  /** A rank that was slow has come. */
  onBack(rank: number): void;
}

export interface OpenCollective {
  call: CollectiveCall;
  /** The requests by rank. */
  requests: Map<number, CollectiveRequest>;
  /** Null while the group is held. */
  limit: TimeLimit | null;
}

/**
 * The collectives that some ranks of a group have called and others not yet, and how long the first wait for the last.
 */
export class OpenCollectives {
  readonly #patience: Patience;
  readonly #ranks: () => readonly number[];
  readonly #timeOut: (missing: number[], what: string) => void;
  readonly #open = new Map<number, OpenCollective>();
  /** Ranks that were reported as slow and have not come yet. */
  readonly #slow = new Set<number>();
  #isHeld = false;

  /**
   * @param ranks the group's present ranks
   * @param timeOut called with the ranks that never came, and the start of a sentence about it
   */
  constructor(patience: Patience, ranks: () => readonly number[], timeOut: (missing: number[], what: string) => void) {
    this.#patience = patience;
    this.#ranks = ranks;
    this.#timeOut = timeOut;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  get(sequence: number): OpenCollective | undefined {
    return this.#open.get(sequence);
  }

  /** The collectives in the order in which they were opened. A loop over them ends when it closes all. */
  all(): Iterable<OpenCollective> {
    return this.#open.values();
  }

  open(call: CollectiveCall): OpenCollective {
    const open: OpenCollective = { call, requests: new Map(), limit: null };
    this.#open.set(call.sequence, open);
    if (!this.#isHeld) this.#startLimit(open);
    return open;
  }

  /** All ranks have called it, and now wait for arrays that travel without the relay: the limit begins anew. */
  awaitDelivery(open: OpenCollective): void {
    stopLimit(open);
    if (!this.#isHeld) this.#startLimit(open);
  }

  close(open: OpenCollective): void {
    stopLimit(open);
    this.#open.delete(open.call.sequence);
  }

  closeAll(): void {
    for (const open of this.all()) this.close(open);
  }

  /** Stops all timeouts while the group is paused. */
  hold(): void {
    this.#isHeld = true;
    for (const open of this.all()) stopLimit(open);
  }

  /** Ends {@link hold}: all timeouts start again. */
  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    for (const open of this.all()) this.#startLimit(open);
  }

  /** A rank has come. */
  welcome(rank: number): void {
    if (this.#slow.delete(rank)) this.#patience.onBack(rank);
  }

  /** A rank is gone, and the others continue without it. */
  forget(rank: number): void {
    this.#slow.delete(rank);
    for (const open of this.all()) open.requests.delete(rank);
  }

  #startLimit(open: OpenCollective): void {
    const patience = this.#patience;
    const limitMs = patience.timeoutMs();
    const steps = new Map(this.#ranks().map((rank) => [rank, patience.stepsOf(rank)]));
    const exceed = (): void => {
      const missing = this.#ranks().filter((rank) => !open.requests.has(rank));
      if (missing.length === 0) return this.#timeOut([], describeUndelivered(open, limitMs));
      // A rank that stands by, or has fewer samples, waits as long as the others' epochs take.
      if (missing.every((rank) => patience.stepsOf(rank) > (steps.get(rank) ?? 0))) return this.#startLimit(open);
      const what = `${describeCall(open.call)}, timed out after ${limitMs} ms: ${describeMissing(open, missing)}`;
      this.#timeOut(missing, what);
    };
    open.limit = new TimeLimit(limitMs, exceed, { halfway: () => this.#warn(open, steps, limitMs / 2) });
  }

  /** Reports the ranks for which others wait. One that does steps is only late. */
  #warn(open: OpenCollective, steps: ReadonlyMap<number, number>, waitedMs: number): void {
    for (const rank of this.#ranks()) {
      const isLate = open.requests.has(rank) || this.#patience.stepsOf(rank) > (steps.get(rank) ?? 0);
      if (isLate || this.#slow.has(rank)) continue;
      this.#slow.add(rank);
      this.#patience.onSlow(rank, waitedMs, describeCall(open.call));
    }
  }
}

export function stopLimit(open: OpenCollective): void {
  open.limit?.stop();
  open.limit = null;
}

function describeMissing({ requests }: OpenCollective, missing: readonly number[]): string {
  const arrived = [...requests.keys()].sort((first, second) => first - second);
  return `called by ${nameRanks(arrived)}, never by ${nameRanks(missing)}.`;
}

/** `rank 0`, `ranks 0, 1` */
export function nameRanks(ranks: readonly number[]): string {
  return `${ranks.length === 1 ? 'rank' : 'ranks'} ${ranks.join(', ')}`;
}

function describeUndelivered({ call }: OpenCollective, limitMs: number): string {
  return (
    `${describeCall(call)}, timed out after ${limitMs} ms: all ranks have called it, but not all of their arrays ` +
    'have arrived. Check the network between the nodes; if it is only slow, raise timeouts.collectiveMs.'
  );
}
