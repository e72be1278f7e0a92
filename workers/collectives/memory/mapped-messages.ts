import { closeSync, fstatSync, openSync, unlinkSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { Futex, Libc, Mapping } from '../../system/libc.ts';
import type { DirectMessages, Message } from '../direct-messages.ts';
import { MappedWord, writeTimespec } from './mapped-word.ts';
import { RingReader, RingWriter, ringFileBytes, roomOf } from './message-ring.ts';
import { growFile } from './rank-files.ts';

/**
 * Each pair of ranks has a cache line: the number of the last message in memory, and the number of the sender's newest
 * ring.
 */
const lineBytes = 64;
/** The first page has the length of a sleep. */
const pageBytes = 4096;
const smallestRingBytes = 2 ** 18;
/** Beyond this a ring grows only for messages of which it would hold fewer than four. */
const ampleRingBytes = 2 ** 26;
/** About 10 µs: less than a sleep and a wake-up cost, but lost where another rank waits for the core. */
const spinsBesideFree = 2000;

/** Size of the file in which ranks tell each other what they have sent. */
export const messageBoardBytes = (ranks: number): number => pageBytes + ranks * ranks * lineBytes;

export interface MappedMessagesOptions {
  folder: string;
  rank: number;
  /** Ascending. */
  ranks: readonly number[];
  libc: Libc;
  futex: Futex;
  /** {@link messageBoardBytes} that all ranks map. */
  board: Mapping;
}

/** What one rank has sent to another, as both see it. */
interface Line {
  /** Number of the last message that lies in memory. */
  arrivals: MappedWord;
  /** Number of the sender's newest ring, from 1; 0: none. */
  newest: Int32Array;
}

interface Outbox extends Line {
  ring: RingWriter | null;
  ringBytes: number;
  last: number;
}

interface Inbox extends Line {
  ring: RingReader | null;
  /** Number of `ring`, and the one after it. */
  opened: number;
  next: RingReader | null;
}

/**
 * Messages between ranks of one machine through memory. A sender has a ring (`message-ring.ts`) for each rank that it
 * sends to, writes a message into it, and wakes the receiver. If there is no room it makes a larger ring, which the
 * receiver opens once it has read the one before.
 */
export class MappedMessages implements DirectMessages {
  readonly #options: MappedMessagesOptions;
  readonly #spins: number;
  readonly #timespecAddress: number;
  readonly #outboxes = new Map<number, Outbox>();
  readonly #inboxes = new Map<number, Inbox>();

  constructor(options: MappedMessagesOptions) {
    this.#options = options;
    // All cores of the machine: a worker is bound to one of them, and `availableParallelism` would count that alone.
    this.#spins = options.ranks.length <= cpus().length ? spinsBesideFree : 0;
    this.#timespecAddress = writeTimespec(options.board, 0);
  }

  put(message: Message, to: number, number: number): boolean {
    const outbox = this.#outbox(to);
    if (outbox.ring?.put(message, number) !== true) {
      outbox.ring = this.#largerRing(outbox, to, message) ?? outbox.ring;
      if (outbox.ring?.put(message, number) !== true) return false;
    }
    outbox.last = number;
    outbox.arrivals.advance(number);
    return true;
  }

  take(from: number, number: number): Message | 'by-hub' | null {
    const inbox = this.#inbox(from);
    if (!inbox.arrivals.hasReached(number)) return null;
    this.#followRings(inbox, from, number);
    return inbox.ring?.take(number) ?? 'by-hub';
  }

  /** They lie where the receiver finds them. */
  move(): boolean {
    return true;
  }

  sleep(from: number, number: number): void {
    this.#inbox(from).arrivals.sleepUntil(number, this.#spins, this.#timespecAddress);
  }

  /** Null where there is no room. */
  #largerRing(outbox: Outbox, to: number, message: Message): RingWriter | null {
    const needed = 4 * roomOf(message);
    if (outbox.ringBytes >= Math.max(ampleRingBytes, needed)) return null;
    const ringBytes = Math.max(smallestRingBytes, 2 * outbox.ringBytes, needed);
    const { folder, rank } = this.#options;
    const number = outbox.newest[0] + 1;
    const path = ringPath(folder, rank, to, number);
    const file = openSync(path, 'wx+', 0o600);
    try {
      const bytes = ringFileBytes(ringBytes);
      if (!growFile(file, folder, 0, bytes)) {
        unlinkSync(path);
        return null;
      }
      const ring = new RingWriter(this.#options.libc.map(file, bytes, 'shared'), outbox.last);
      outbox.ringBytes = ringBytes;
      Atomics.store(outbox.newest, 0, number);
      return ring;
    } finally {
      closeSync(file);
    }
  }

  /** Opens the newest ring in which the message can be. */
  #followRings(inbox: Inbox, from: number, number: number): void {
    while (inbox.opened < Atomics.load(inbox.newest, 0)) {
      inbox.next ??= this.#openRing(from, inbox.opened + 1);
      if (((number - inbox.next.earlier) | 0) <= 0) return;
      inbox.ring = inbox.next;
      inbox.next = null;
      inbox.opened += 1;
    }
  }

  #openRing(from: number, number: number): RingReader {
    const { folder, rank, libc } = this.#options;
    const path = ringPath(folder, from, rank, number);
    const file = openSync(path, 'r+');
    try {
      const ring = new RingReader(libc.map(file, fstatSync(file).size, 'shared'));
      // It is gone with its two processes.
      unlinkSync(path);
      return ring;
    } finally {
      closeSync(file);
    }
  }

  #outbox(to: number): Outbox {
    const known = this.#outboxes.get(to);
    if (known !== undefined) return known;
    const outbox = { ...this.#line(this.#options.rank, to), ring: null, ringBytes: 0, last: 0 };
    this.#outboxes.set(to, outbox);
    return outbox;
  }

  #inbox(from: number): Inbox {
    const known = this.#inboxes.get(from);
    if (known !== undefined) return known;
    const inbox = { ...this.#line(from, this.#options.rank), ring: null, opened: 0, next: null };
    this.#inboxes.set(from, inbox);
    return inbox;
  }

  #line(from: number, to: number): Line {
    const { ranks, futex, board } = this.#options;
    const offset = pageBytes + (ranks.indexOf(from) * ranks.length + ranks.indexOf(to)) * lineBytes;
    return { arrivals: new MappedWord(futex, board, offset), newest: new Int32Array(board.buffer, offset + 4, 1) };
  }
}

const ringPath = (folder: string, from: number, to: number, number: number): string =>
  join(folder, `messages-${from}-${to}-${number}.bin`);
