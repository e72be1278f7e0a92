/**
 * The case that a thread runs now, in memory shared with the thread that watches it: a hang leaves the bytes behind.
 */
export class SharedCase {
  readonly buffer: SharedArrayBuffer;
  /** Number of cases so far, bytes of the present input, number of inputs (with those that minimise a finding). */
  readonly #head: Int32Array;
  readonly #bytes: Uint8Array;

  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer;
    this.#head = new Int32Array(buffer, 0, 3);
    this.#bytes = new Uint8Array(buffer, 12);
  }

  static create(maximumBytes: number): SharedCase {
    return new SharedCase(new SharedArrayBuffer(12 + maximumBytes));
  }

  get count(): number {
    return Atomics.load(this.#head, 0);
  }

  get bytes(): Buffer {
    return Buffer.from(this.#bytes.slice(0, Atomics.load(this.#head, 1)));
  }

  get inputs(): number {
    return Atomics.load(this.#head, 2);
  }

  beginCase(bytes: Uint8Array): void {
    Atomics.add(this.#head, 0, 1);
    this.begin(bytes);
  }

  /** An input that does not count as a case: a shorter form of one. */
  begin(bytes: Uint8Array): void {
    this.#bytes.set(bytes);
    Atomics.store(this.#head, 1, bytes.length);
    Atomics.add(this.#head, 2, 1);
  }
}
