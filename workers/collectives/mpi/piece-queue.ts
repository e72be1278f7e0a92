import type { Communicator } from './communicator.ts';
import type { MpiLibrary } from './library.ts';
import { Requests } from './requests.ts';

/** Bytes that travel as one message of MPI. */
export interface Piece {
  address: number;
  bytes: number;
  /** Where the bytes lie: memory that must stay while MPI uses it. */
  memory: ArrayBufferView;
}

/** Pieces of an array, in place. */
export function piecesOf(mpi: MpiLibrary, array: ArrayBufferView, mostBytes: number): Piece[] {
  const address = array.byteLength === 0 ? 0 : mpi.addressOf(array);
  return Array.from({ length: Math.ceil(array.byteLength / mostBytes) }, (_, i) => ({
    address: address + i * mostBytes,
    bytes: Math.min(mostBytes, array.byteLength - i * mostBytes),
    memory: array,
  }));
}

/** Pieces to or from one rank, in their order, a few under way at a time. */
export class PieceQueue {
  readonly #begin: (piece: Piece, requests: Requests) => void;
  readonly #slots: Requests[];
  /** The piece that is under way in each slot. */
  readonly #underWay: (Piece | null)[];
  #waiting: Piece[] = [];
  #begun = 0;
  #ended = 0;

  static to(rank: number, mpi: MpiLibrary, communicator: Communicator, window: number): PieceQueue {
    return new PieceQueue(mpi, window, ({ address, bytes }, requests) =>
      communicator.send(address, bytes, rank, 0, requests),
    );
  }

  static from(rank: number, mpi: MpiLibrary, communicator: Communicator, window: number): PieceQueue {
    return new PieceQueue(mpi, window, ({ address, bytes }, requests) =>
      communicator.receive(address, bytes, rank, 0, requests),
    );
  }

  /** @param window how many pieces are under way at a time */
  private constructor(mpi: MpiLibrary, window: number, begin: (piece: Piece, requests: Requests) => void) {
    this.#begin = begin;
    this.#slots = Array.from({ length: window }, () => new Requests(mpi, 1));
    this.#underWay = this.#slots.map(() => null);
  }

  /** Pieces that have not ended. */
  get length(): number {
    return this.#waiting.length + this.#begun - this.#ended;
  }

  add(pieces: readonly Piece[]): void {
    this.#waiting.push(...pieces);
  }

  /** Begins and ends what can. @returns whether a piece has ended */
  advance(): boolean {
    const endedBefore = this.#ended;
    while (this.#ended < this.#begun && this.#slots[this.#slotOf(this.#ended)].areDone()) {
      this.#underWay[this.#slotOf(this.#ended)] = null;
      this.#ended += 1;
    }
    while (this.#begun - this.#ended < this.#slots.length) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      const slot = this.#slotOf(this.#begun);
      this.#underWay[slot] = next;
      this.#begin(next, this.#slots[slot]);
      this.#begun += 1;
    }
    return this.#ended > endedBefore;
  }

  #slotOf(count: number): number {
    return count % this.#slots.length;
  }
}
