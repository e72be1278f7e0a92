import type { CollectiveArray } from '../../../core/protocol/wire/collectives.ts';
import type { LargeWait } from '../memory/slot-exchange.ts';
import type { Communicator } from './communicator.ts';
import type { MpiLibrary } from './library.ts';
import { PieceQueue, piecesOf } from './piece-queue.ts';
import { waitFor } from './wait.ts';

/** Longer arrays travel in several messages: MPI counts bytes in C's `int`, and pieces show that something arrives. */
const pieceBytes = 2 ** 20;
/** Pieces under way with each rank. */
const window = 4;

/** Large arrays between ranks, in place, with a few pieces under way at a time with each other rank. */
export class Transfers {
  readonly #mpi: MpiLibrary;
  /** The queue of pieces to each rank. */
  readonly #sends: PieceQueue[];
  readonly #receives: PieceQueue[];

  constructor(mpi: MpiLibrary, communicator: Communicator) {
    this.#mpi = mpi;
    const ranks = Array.from({ length: communicator.size }, (_, rank) => rank);
    this.#sends = ranks.map((to) => PieceQueue.to(to, mpi, communicator, window));
    this.#receives = ranks.map((from) => PieceQueue.from(from, mpi, communicator, window));
  }

  send(array: CollectiveArray, to: number): void {
    this.#sends[to].add(piecesOf(this.#mpi, array, pieceBytes));
  }

  receive(array: CollectiveArray, from: number): void {
    this.#receives[from].add(piecesOf(this.#mpi, array, pieceBytes));
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
  }
}
