import { viewArray } from '../../../core/protocol/wire/arrays.ts';
import { elementCount } from '../../../core/protocol/wire/collectives.ts';
import type { Mapping } from '../../system/libc.ts';
import { headBytes, headOf, headWords, type Message, mostAxes, readHead } from '../direct-messages.ts';

/** Messages begin at multiples of a cache line, with a head of one. */
const blockBytes = headBytes;
/** Instead of a data type: what follows begins at the ring's beginning. */
const skips = -1;
/** The first page: blocks that the receiver has freed, and the last message of the ring before. */
const pageBytes = 4096;
const freedWord = 0;
const earlierWord = 16;

/** Blocks of a message with its header. */
const blocksOf = ({ data }: Message): number => 1 + Math.ceil(data.byteLength / blockBytes);

/** Size of the file of a ring with room for so many bytes of messages. */
export const ringFileBytes = (bytes: number): number => pageBytes + Math.ceil(bytes / blockBytes) * blockBytes;

/** Bytes that a message needs in a ring. */
export const roomOf = (message: Message): number => blocksOf(message) * blockBytes;

/**
 * Common parts of both ends of a ring: memory for the messages from one rank to another, used in turn. Counts of blocks
 * wrap around.
 */
class MessageRing {
  protected readonly buffer: ArrayBuffer;
  protected readonly words: Int32Array;
  protected readonly capacity: number;

  constructor({ buffer }: Mapping) {
    this.buffer = buffer;
    this.words = new Int32Array(buffer);
    this.capacity = (buffer.byteLength - pageBytes) / blockBytes;
  }

  /** First byte of the block after so many. */
  protected byteOf(blocks: number): number {
    return pageBytes + (blocks % this.capacity) * blockBytes;
  }

  /** Blocks from there to the end of the memory. */
  protected untilEnd(blocks: number): number {
    return this.capacity - (blocks % this.capacity);
  }
}

/** The sender's end of a ring. */
export class RingWriter extends MessageRing {
  #written = 0;

  /** @param earlier number of the last message in the ring that this one replaces; 0 for the first ring */
  constructor(mapping: Mapping, earlier: number) {
    super(mapping);
    this.words[earlierWord] = earlier;
  }

  /** Writes a message. Tell the receiver afterwards. @returns whether there was room */
  put(message: Message, number: number): boolean {
    const { data, shape } = message;
    const blocks = blocksOf(message);
    const untilEnd = this.untilEnd(this.#written);
    const skipped = blocks > untilEnd ? untilEnd : 0;
    if (skipped + blocks > this.#free || shape.length > mostAxes) return false;
    if (skipped > 0) this.#writeHead([number, skips, 0]);
    this.#written += skipped;
    this.#writeHead(headOf(message, number));
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    new Uint8Array(this.buffer, this.byteOf(this.#written) + blockBytes, bytes.length).set(bytes);
    this.#written += blocks;
    return true;
  }

  get #free(): number {
    return this.capacity - ((this.#written - Atomics.load(this.words, freedWord)) | 0);
  }

  #writeHead(head: readonly number[]): void {
    this.words.set(head, this.byteOf(this.#written) / 4);
  }
}

/** The receiver's end of a ring. */
export class RingReader extends MessageRing {
  #read = 0;

  /** Number of the last message in the ring that this one replaces. */
  get earlier(): number {
    return this.words[earlierWord];
  }

  /** Takes the next message, which must have been written. Null if that is a later one than `number`. */
  take(number: number): Message | null {
    const [found, type] = this.#head();
    if (found !== (number | 0)) return null;
    if (type === skips) this.#free(this.untilEnd(this.#read));
    const { dataType, shape } = readHead(this.#head());
    const start = this.byteOf(this.#read) + blockBytes;
    const data = viewArray(dataType, this.buffer, start, elementCount(shape)).slice();
    const message = { data, shape };
    this.#free(blocksOf(message));
    return message;
  }

  #head(): Int32Array {
    const start = this.byteOf(this.#read) / 4;
    return this.words.subarray(start, start + headWords);
  }

  #free(blocks: number): void {
    this.#read += blocks;
    Atomics.store(this.words, freedWord, this.#read);
  }
}
