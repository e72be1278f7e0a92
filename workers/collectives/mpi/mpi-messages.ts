import { createArray, viewArray } from '../../../core/protocol/wire/arrays.ts';
import { elementCount } from '../../../core/protocol/wire/collectives.ts';
import {
  type DirectMessages,
  headBytes,
  headOf,
  headWords,
  type Message,
  type MessageHead,
  mostAxes,
  readHead,
} from '../direct-messages.ts';
import type { Communicator } from './communicator.ts';
import type { MpiLibrary, NativeBuffer } from './library.ts';
import { PieceQueue, piecesOf } from './piece-queue.ts';
import { Polling } from './wait.ts';

/**
 * Bytes of an array that travel at once. TCP of Open MPI sends so many without asking the receiver, which may compute
 * for long before it answers; the system then delivers them while both ranks compute.
 */
const pieceBytes = 64_000;
/** Pieces under way to or from each rank. Open MPI copies those that it cannot send yet. */
const window = 64;

/**
 * Messages between ranks of several nodes, by a communicator that nothing else uses. The head of a message travels with
 * its array if that is small, else before it, and the array follows in pieces, from its place to its place.
 */
export class MpiMessages implements DirectMessages {
  readonly #mpi: MpiLibrary;
  readonly #communicator: Communicator;
  readonly #ranks: readonly number[];
  /** The outboxes by the other rank. */
  readonly #outboxes = new Map<number, PieceQueue>();
  readonly #inboxes = new Map<number, MpiInbox>();
  #isClosed = false;

  /** @param communicator of the group's ranks, in their order */
  constructor(mpi: MpiLibrary, communicator: Communicator, ranks: readonly number[]) {
    this.#mpi = mpi;
    this.#communicator = communicator;
    this.#ranks = ranks;
  }

  put(message: Message, to: number, number: number): boolean {
    const { data, shape } = message;
    if (shape.length > mostAxes) return false;
    const fits = data.byteLength <= pieceBytes;
    const bytes = headBytes + (fits ? data.byteLength : 0);
    const first = this.#mpi.allocate(bytes);
    new Int32Array(first.bytes.buffer, 0, headWords).set(headOf(message, number));
    if (fits) first.bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), headBytes);
    const outbox = this.#outbox(to);
    outbox.add([{ address: first.address, bytes, memory: first.bytes }]);
    if (!fits) outbox.add(piecesOf(this.#mpi, data, pieceBytes));
    outbox.advance();
    return true;
  }

  take(from: number, number: number): Message | 'by-hub' | null {
    return this.#inbox(from).take(number);
  }

  move(): boolean {
    if (this.#isClosed) return true;
    let rest = 0;
    for (const outbox of this.#outboxes.values()) {
      outbox.advance();
      rest += outbox.length;
    }
    return rest === 0;
  }

  sleep(from: number): void {
    const inbox = this.#inbox(from);
    inbox.polling.poll(() => {
      this.move();
      return inbox.hasArrived();
    });
  }

  /** Calls MPI no more: the world is left. All messages have been received. */
  close(): void {
    this.#isClosed = true;
  }

  #outbox(to: number): PieceQueue {
    const known = this.#outboxes.get(to);
    if (known !== undefined) return known;
    const outbox = PieceQueue.to(this.#ranks.indexOf(to), this.#mpi, this.#communicator, window);
    this.#outboxes.set(to, outbox);
    return outbox;
  }

  #inbox(from: number): MpiInbox {
    const known = this.#inboxes.get(from);
    if (known !== undefined) return known;
    const pieces = PieceQueue.from(this.#ranks.indexOf(from), this.#mpi, this.#communicator, window);
    const inbox = new MpiInbox(this.#mpi, pieces);
    this.#inboxes.set(from, inbox);
    return inbox;
  }
}

/**
 * What one rank sends to this one. MPI is only asked for a message that somebody waits for, so none is under way at the
 * end.
 */
class MpiInbox {
  polling: Polling;
  readonly #mpi: MpiLibrary;
  readonly #pieces: PieceQueue;
  /** Room for a head and a small array. */
  readonly #room: NativeBuffer;
  #isAwaited = false;
  /** The message whose head has come. */
  #opened: { head: MessageHead; message: Message } | null = null;

  constructor(mpi: MpiLibrary, pieces: PieceQueue) {
    this.#mpi = mpi;
    this.#pieces = pieces;
    this.#room = mpi.allocate(headBytes + pieceBytes);
    this.polling = new Polling(mpi);
  }

  /** Whether the next message has come as a whole. */
  hasArrived(): boolean {
    if (!this.#isAwaited) this.#await();
    this.#pieces.advance();
    if (this.#pieces.length > 0) return false;
    if (this.#opened !== null) return true;
    this.#opened = this.#open();
    this.#pieces.advance();
    return this.#pieces.length === 0;
  }

  take(number: number): Message | 'by-hub' | null {
    if (!this.hasArrived() || this.#opened === null) return null;
    const { head, message } = this.#opened;
    if (head.number !== (number | 0)) return 'by-hub';
    this.#opened = null;
    this.#isAwaited = false;
    return message;
  }

  #await(): void {
    const { address, bytes } = this.#room;
    this.#isAwaited = true;
    this.polling = new Polling(this.#mpi);
    this.#pieces.add([{ address, bytes: bytes.length, memory: bytes }]);
  }

  #open(): { head: MessageHead; message: Message } {
    const { buffer } = this.#room.bytes;
    const head = readHead(new Int32Array(buffer, 0, headWords));
    const { dataType, shape } = head;
    const data = createArray(dataType, elementCount(shape));
    if (data.byteLength <= pieceBytes) data.set(viewArray(dataType, buffer, headBytes, data.length));
    else this.#pieces.add(piecesOf(this.#mpi, data, pieceBytes));
    return { head, message: { data, shape } };
  }
}
