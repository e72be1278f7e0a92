import type { Futex, Mapping } from '../../system/libc.ts';

/** Size of a `timespec`, the length of a sleep. */
const timespecBytes = 16;
/** The event loop turns after this time, which delivers a failure of the group. */
const sleepNs = 5_000_000;

/** A counter in shared memory that processes wait for. It wraps around: compare differences. */
export class MappedWord {
  readonly #futex: Futex;
  readonly #words: Int32Array;
  readonly #address: number;

  /** @param offset bytes from the mapping's beginning, a multiple of 4 */
  constructor(futex: Futex, { buffer, address }: Mapping, offset: number) {
    this.#futex = futex;
    this.#words = new Int32Array(buffer, offset, 1);
    this.#address = address + offset;
  }

  get value(): number {
    return Atomics.load(this.#words, 0);
  }

  hasReached(value: number): boolean {
    return ((this.value - value) | 0) >= 0;
  }

  /** Writes a new value and wakes all waiting processes. */
  advance(value: number): void {
    Atomics.store(this.#words, 0, value);
    this.#futex.wake(this.#address);
  }

  /** Adds 1 and wakes no process. @returns whether the count is now `value`, also where it has wrapped around */
  incrementsTo(value: number): boolean {
    return ((Atomics.add(this.#words, 0, 1) + 1 - value) | 0) === 0;
  }

  /** Whether it has reached `value`, or does so while it is polled. @param spins how often to poll further */
  comesSoon(value: number, spins: number): boolean {
    for (let spin = 0; spin <= spins; spin++) if (this.hasReached(value)) return true;
    return false;
  }

  /** Whether it reaches `value` now or within a few milliseconds. @param spins how often to poll before sleeping */
  sleepUntil(value: number, spins: number, timespecAddress: number): boolean {
    if (this.comesSoon(value, spins)) return true;
    const seen = this.value;
    if (((seen - value) | 0) >= 0) return true;
    this.#futex.wait(this.#address, seen, timespecAddress);
    return this.hasReached(value);
  }
}

/**
 * Writes the length of a sleep to a mapping of this process.
 * @returns its address, for {@link MappedWord.sleepUntil}
 */
export function writeTimespec({ buffer, address }: Mapping, offset: number): number {
  const [seconds, nanoseconds] = [0n, BigInt(sleepNs)];
  new BigInt64Array(buffer, offset, timespecBytes / 8).set([seconds, nanoseconds]);
  return address + offset;
}
