import type { CollectiveArray } from '../../../core/protocol/wire/collectives.ts';
import type { LargeWait } from '../memory/slot-exchange.ts';
import type { Communicator } from './communicator.ts';
import type { MpiLibrary } from './library.ts';
import { Requests } from './requests.ts';
import { waitFor } from './wait.ts';

/** Longer arrays travel in several messages: MPI counts bytes in C's `int`, and pieces show that something arrives. */
const pieceBytes = 2 ** 20;
/** Pieces under way with each rank. */
const window = 4;

interface Piece {
  address: number;
  bytes: number;
  rank: number;
}

/** Large arrays between ranks, in place, with a few pieces under way at a time with each other rank. */
export class Transfers {
  readonly #mpi: MpiLibrary;
  /** By rank. */
  readonly #sends: Queue[];
  readonly #receives: Queue[];
  /** The arrays whose memory MPI uses. */
  #held: CollectiveArray[] = [];

  constructor(mpi: MpiLibrary, communicator: Communicator) {
    this.#mpi = mpi;
    const queues = (begin: (piece: Piece, requests: Requests) => void): Queue[] =>
      Array.from({ length: communicator.size }, () => new Queue(mpi, begin));
    this.#sends = queues(({ address, bytes, rank }, requests) => communicator.send(address, bytes, rank, 0, requests));
    this.#receives = queues(({ address, bytes, rank }, requests) =>
      communicator.receive(address, bytes, rank, 0, requests),
    );
  }

  send(array: CollectiveArray, to: number): void {
    this.#sends[to].add(this.#cut(array, to));
  }

  receive(array: CollectiveArray, from: number): void {
    this.#receives[from].add(this.#cut(array, from));
  }

  /** Resolves once all arrays have been sent and received. */
  async end({ isAwaited, advanced }: LargeWait): Promise<void> {
    const queues = [...this.#receives, ...this.#sends];
    const isDone = (): boolean => {
      let rest = 0;
      for (const queue of queues) {
        if (queue.advance()) advanced();
        rest += queue.length;
      }
      return rest === 0;
    };
    await waitFor(this.#mpi, isDone, isAwaited);
    this.#held = [];
  }

  #cut(array: CollectiveArray, rank: number): Piece[] {
    this.#held.push(array);
    const address = array.byteLength === 0 ? 0 : this.#mpi.addressOf(array);
    return Array.from({ length: Math.ceil(array.byteLength / pieceBytes) }, (_, i) => ({
      address: address + i * pieceBytes,
      bytes: Math.min(pieceBytes, array.byteLength - i * pieceBytes),
      rank,
    }));
  }
}

/** Messages to or from one rank, in their order, a few at a time. */
class Queue {
  readonly #begin: (piece: Piece, requests: Requests) => void;
  readonly #slots: Requests[];
  #waiting: Piece[] = [];
  #begun = 0;
  #ended = 0;

  constructor(mpi: MpiLibrary, begin: (piece: Piece, requests: Requests) => void) {
    this.#begin = begin;
    this.#slots = Array.from({ length: window }, () => new Requests(mpi, 1));
  }

  /** Messages that have not ended. */
  get length(): number {
    return this.#waiting.length + this.#begun - this.#ended;
  }

  add(pieces: readonly Piece[]): void {
    this.#waiting.push(...pieces);
  }

  /** Begins and ends what can. @returns whether a message has ended */
  advance(): boolean {
    const endedBefore = this.#ended;
    while (this.#ended < this.#begun && this.#slots[this.#ended % window].areDone()) this.#ended += 1;
    while (this.#begun - this.#ended < window) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      this.#begin(next, this.#slots[this.#begun % window]);
      this.#begun += 1;
    }
    return this.#ended > endedBefore;
  }
}
