import { mayFollow, nextStages, stageRules } from '../../core/protocol/wire/collective-stages.ts';
import {
  checkCall,
  type CollectiveArray,
  type CollectiveCall,
  CollectiveError,
  type ControlSignals,
  describeCall,
  isMessage,
  isSameCall,
  mergeSignals,
} from '../../core/protocol/wire/collectives.ts';
import type { CollectiveFrame, CollectiveRequest } from '../../core/protocol/wire/frames.ts';
import { MessagesOfGroup } from './messages.ts';
import { nameRanks, type OpenCollective, OpenCollectives, type Patience, stopLimit } from './open-collectives.ts';
import { freeMemory } from '../../core/protocol/wire/arrays.ts';
import { concatenate, reduceArrays } from '../../core/protocol/wire/reduce.ts';

export interface RelayOptions extends Patience {
  /** Global indices of the group's members. */
  ranks: readonly number[];
  /** Device, pid, state, epoch, step and last log lines of a rank, for messages. */
  describeRank(rank: number): string;
  /**
   * A collective timed out because these ranks never called it. Drops them if the others may continue, and returns
   * whether it did.
   */
  dropStuck(missingRanks: number[], error: Error): boolean;
  /** The same, where the others may not continue. The group has failed already. */
  onStuck(missingRanks: number[], error: Error): void;
}

/**
 * Completes the collectives of one group of ranks: collects every rank's request with a sequence number, checks that
 * they agree, and answers all. `collective-stages.ts` says which requests a collective has. The relay does no input or
 * output.
 *
 * A group fails as a whole and for good: when ranks disagree, when one is gone, when one does not come in time. The
 * relay then notifies every rank at once, so that none waits for an answer that cannot come.
 */
export class Relay {
  readonly #options: RelayOptions;
  /** Ascending: the order of every result. */
  #ranks: readonly number[];
  /** Ranks without which the others continue. */
  readonly #dropped = new Set<number>();
  readonly #senders = new Map<number, (frame: CollectiveFrame) => void>();
  /** Sequence number of each rank's newest request. */
  readonly #sequences: Map<number, number>;
  readonly #open: OpenCollectives;
  readonly #messages: MessagesOfGroup;
  /** The request that all ranks made last, by sequence number, where they will make another. */
  readonly #continued = new Map<number, CollectiveCall>();
  /** The last collective that all ranks began in mapped memory, where the relay does not see the rest of it. */
  #mapped: { call: CollectiveCall; signals: ControlSignals } | null = null;
  #failure: string | null = null;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#ranks = [...options.ranks].sort((first, second) => first - second);
    this.#sequences = new Map(this.#ranks.map((rank) => [rank, 0]));
    const ranks = (): readonly number[] => this.#ranks;
    const timeOut = (missing: number[], what: string): void => this.#timeOut(missing, what);
    this.#open = new OpenCollectives(options, ranks, timeOut);
    this.#messages = new MessagesOfGroup(options, {
      deliver: (rank, frame) => this.#deliver(rank, frame),
      isMember: (rank) => this.#ranks.includes(rank),
      timeOut,
    });
  }

  /** Sets the receiver of the answers for a rank. */
  attach(rank: number, send: (frame: CollectiveFrame) => void): void {
    this.#checkMember(rank);
    this.#senders.set(rank, send);
    if (this.#failure !== null) this.#deliver(rank, { kind: 'collective', phase: 'failure', reason: this.#failure });
  }

  /**
   * Takes a request of a rank. Ignores it once the rank was dropped or the group has failed: every rank was notified.
   */
  receive(rank: number, frame: CollectiveFrame): void {
    if (this.#dropped.has(rank)) return;
    this.#checkMember(rank);
    if (this.#failure !== null) return;
    if (!this.#senders.has(rank)) throw new Error(`Rank ${rank} sent a request before it was attached.`);
    try {
      if (frame.phase !== 'request') throw new CollectiveError(`Rank ${rank} sent a ${frame.phase}, not a request.`);
      if (isMessage(frame.call)) this.#messages.take(rank, frame);
      else this.#take(rank, frame);
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error));
    }
  }

  /** Stops all timeouts while the group is paused. */
  hold(): void {
    this.#open.hold();
    this.#messages.hold();
  }

  /** Ends {@link hold}: all timeouts start again. */
  release(): void {
    this.#open.release();
    this.#messages.release();
  }

  /** A rank is gone: every pending and every later collective of the others fails. */
  rankLeft(rank: number, reason: string): void {
    this.#checkMember(rank);
    this.#senders.delete(rank);
    this.#fail(`Rank ${rank} left the group: ${reason}. ${this.#options.describeRank(rank)}`);
  }

  /**
   * A rank is gone, and the others continue without it, from the collectives that are open now on. Only for collectives
   * that do not go through shared memory.
   */
  drop(rank: number): void {
    this.#checkMember(rank);
    this.#dropped.add(rank);
    this.#open.forget(rank);
    this.#senders.delete(rank);
    this.#sequences.delete(rank);
    this.#ranks = this.#ranks.filter((other) => other !== rank);
    for (const open of this.#open.all()) {
      if (open.requests.size === 0) this.#open.close(open);
      else if (open.requests.size === this.#ranks.length) this.#complete(open);
    }
  }

  #take(rank: number, request: CollectiveRequest): void {
    const { call } = request;
    const { reportsOn, isOrdered } = stageRules[call.stage];
    if (reportsOn === 'mapped') return this.#reportStuck(rank, request);
    if (reportsOn === 'awaited') return this.#withdraw(rank, call);
    const previous = this.#continued.get(call.sequence) ?? null;
    if (!mayFollow(previous, call.stage)) {
      const after = previous === null ? 'as its first request' : `after ${describeCall(previous)}`;
      throw new CollectiveError(`Rank ${rank} requested ${describeCall(call)} ${after}, which no collective does.`);
    }
    if (isOrdered && previous === null) this.#advance(rank, call);
    checkCall(call, this.#ranks);
    const open = this.#open.get(call.sequence) ?? this.#open.open(call);
    open.requests.set(rank, request);
    this.#open.welcome(rank);
    if (!isSameCall(open.call, call)) throw new CollectiveError(describeDisagreement(open));
    if (open.requests.size === this.#ranks.length) this.#complete(open);
  }

  /** Checks that a rank does not skip a collective that others have called, and counts its call. */
  #advance(rank: number, call: CollectiveCall): void {
    const newest = this.#sequences.get(rank) ?? 0;
    if (call.sequence <= newest) {
      throw new CollectiveError(`Rank ${rank} called ${describeCall(call)}, after sequence number ${newest}.`);
    }
    const ahead = this.#ranks.find((other) => (this.#sequences.get(other) ?? 0) > call.sequence);
    if (ahead !== undefined && this.#open.get(call.sequence) === undefined) {
      throw new CollectiveError(`Rank ${rank} called ${describeCall(call)}, which rank ${ahead} has skipped.`);
    }
    for (const { call: due } of this.#open.all()) {
      if (!stageRules[due.stage].isOrdered || due.sequence <= newest || due.sequence >= call.sequence) continue;
      throw new CollectiveError(`Rank ${rank} called ${describeCall(call)}, where ${describeCall(due)} was due.`);
    }
    this.#sequences.set(rank, call.sequence);
  }

  /** A rank has found in memory what it waited for. */
  #withdraw(rank: number, { sequence }: CollectiveCall): void {
    const open = this.#open.get(sequence);
    if (open === undefined) return;
    open.requests.delete(rank);
    if (open.requests.size > 0) return;
    this.#open.close(open);
    // All have met in memory.
    for (const other of this.#ranks) this.#open.welcome(other);
  }

  #complete(open: OpenCollective): void {
    const { call, requests } = open;
    // All ranks wait for each other's arrays: each withdraws once it has them.
    if (stageRules[call.stage].answered === 'never') return this.#open.awaitDelivery(open);
    stopLimit(open);
    this.#open.close(open);
    if (nextStages(call).length > 0) this.#continued.set(call.sequence, call);
    else this.#continued.delete(call.sequence);
    const arrays = this.#ranks.map((rank) => requests.get(rank)?.data ?? null);
    const answers = computeAnswers(call, this.#ranks, arrays);
    const signals = mergeSignals([...requests.values()].map((request) => request.signals));
    if (call.stage === 'mapped') this.#mapped = { call, signals };
    for (const [position, rank] of this.#ranks.entries()) {
      const data = answers[position];
      const shape = data === null ? [] : [data.length];
      this.#deliver(rank, { kind: 'collective', phase: 'result', call: { ...call, shape }, signals, data });
    }
  }

  /**
   * A rank has waited in mapped memory up to the timeout. Unless the group is held, the ranks that it names never come.
   */
  #reportStuck(rank: number, { call, data }: CollectiveRequest): void {
    const mapped = this.#mapped;
    const missing = this.#ranks.filter((other) => data?.some((named: number) => named === other));
    if (mapped?.call.sequence !== call.sequence || missing.length === 0) {
      throw new CollectiveError(
        `Rank ${rank} waits in ${describeCall(call)}, which the ranks have not begun together.`,
      );
    }
    if (this.#open.isHeld) {
      const { signals } = mapped;
      return this.#deliver(rank, {
        kind: 'collective',
        phase: 'result',
        call: { ...call, shape: [] },
        signals,
        data: null,
      });
    }
    const waited = `${describeCall(mapped.call)}, timed out after ${this.#options.timeoutMs()} ms`;
    this.#timeOut(missing, `${waited}: begun by all, never ended by ${nameRanks(missing)}.`);
  }

  /** @param missing the ranks that never came; none if only their arrays did not */
  #timeOut(missing: number[], what: string): void {
    const reason = [what, ...missing.map((rank) => this.#options.describeRank(rank))].join(' ');
    const error = new CollectiveError(reason);
    if (missing.length === 0) return this.#fail(reason);
    if (this.#options.dropStuck(missing, error)) return;
    this.#fail(reason);
    this.#options.onStuck(missing, error);
  }

  #fail(reason: string): void {
    if (this.#failure !== null) return;
    this.#failure = reason;
    this.#open.closeAll();
    this.#messages.close();
    for (const rank of this.#senders.keys()) this.#deliver(rank, { kind: 'collective', phase: 'failure', reason });
  }

  /** A rank that cannot be reached counts as gone. */
  #deliver(rank: number, frame: CollectiveFrame): void {
    try {
      this.#senders.get(rank)?.(frame);
    } catch (error) {
      this.rankLeft(rank, error instanceof Error ? error.message : String(error));
    }
  }

  #checkMember(rank: number): void {
    if (this.#sequences.has(rank)) return;
    throw new RangeError(`Rank ${rank} is not in the group of ${nameRanks(this.#ranks)}.`);
  }
}

/** `rank 0 called all-reduce(sum) of float32[10], sequence number 7; rank 1 called ...` */
function describeDisagreement({ requests }: OpenCollective): string {
  const calls = [...requests].map(([rank, { call }]) => `rank ${rank} called ${describeCall(call)}`);
  return `The ranks disagree: ${calls.join('; ')}. Every rank must make the same calls in the same order.`;
}

/**
 * The answer for each rank, in the order of `ranks`; null where a rank needs no array, or has it already.
 * @param arrays what each rank sent, in the same order
 */
function computeAnswers(
  call: CollectiveCall,
  ranks: readonly number[],
  arrays: readonly (CollectiveArray | null)[],
): (CollectiveArray | null)[] {
  if (call.operation === 'barrier' || stageRules[call.stage].arraysIn === 'memory') return ranks.map(() => null);
  if (call.operation === 'broadcast') {
    const [data] = requireData(ranks, arrays, (rank) => rank === call.root);
    return ranks.map((rank) => (rank === call.root ? null : data));
  }
  if (call.operation === 'shift') return ranks.map((_, position) => arrays[position + Number(call.distance)] ?? null);
  const all = requireData(ranks, arrays);
  if (call.operation === 'all-gather') {
    const gathered = concatenate(all);
    return ranks.map(() => gathered);
  }
  const reduced = reduce(call, all);
  if (call.operation === 'all-reduce') return ranks.map(() => reduced);
  const size = reduced.length / ranks.length;
  return ranks.map((_, position) => reduced.subarray(position * size, (position + 1) * size));
}

function reduce(call: CollectiveCall, arrays: readonly CollectiveArray[]): CollectiveArray {
  if (call.reduce === null) throw new CollectiveError(`${call.operation} came without a reduce operation.`);
  const result = reduceArrays(arrays, call.reduce);
  for (const array of arrays.slice(1)) freeMemory(array);
  return result;
}

function requireData(
  ranks: readonly number[],
  arrays: readonly (CollectiveArray | null)[],
  isNeeded: (rank: number) => boolean = () => true,
): CollectiveArray[] {
  return ranks.flatMap((rank, position) => {
    if (!isNeeded(rank)) return [];
    const data = arrays[position];
    if (data === null) throw new CollectiveError(`Rank ${rank} sent no array.`);
    return [data];
  });
}
