import { setImmediate } from 'node:timers/promises';
import type { Futex, Mapping } from '../system/libc.ts';

/** Bytes at the beginning of each rank's file, which are the barrier's. */
export const barrierBytes = 4096;
/** Int32 words of them: how many stages the rank has completed; the collective that is under way in either area; a `timespec`. */
const progressWord = 0;
const callWord = 1;
const timeoutWord = 4;
/** After so long without news the event loop turns, by which a failure of the group is heard of. */
const sleepNs = 5_000_000;
/** About 10 µs: less than a sleep and a wake-up cost. */
const spins = 2000;

/**
 * Where ranks wait for each other without the hub: each counts in its own file's first word what it has completed, and sleeps on those of
 * the others. A rank that will never come is the relay's to find out: whoever waits asks every few milliseconds.
 */
export class MappedBarrier {
  readonly #futex: Futex;
  readonly #own: Word;
  readonly #others: (Word & { rank: number })[];

  /** @param others by rank */
  constructor(futex: Futex, own: Mapping, others: ReadonlyMap<number, Mapping>) {
    this.#futex = futex;
    this.#own = wordOf(own);
    this.#others = [...others].map(([rank, mapping]) => ({ ...wordOf(mapping), rank }));
    const timeout = new BigInt64Array(own.buffer, timeoutWord * 4, 2);
    timeout[1] = BigInt(sleepNs);
  }

  /** Says which collective this rank has in an area, before it first meets the others there. */
  announce(signature: number, area: number): void {
    this.#own.words[callWord + area] = signature;
  }

  /**
   * Resolves once all ranks have come as far as this one.
   * @param isAwaited called every few milliseconds meanwhile, with a rank that has not come; what it throws ends the wait
   */
  async meet(isAwaited: (rank: number) => Promise<void>): Promise<void> {
    const stage = (this.#own.words[progressWord] + 1) | 0;
    Atomics.store(this.#own.words, progressWord, stage);
    this.#futex.wake(this.#own.address);
    for (const other of this.#others) {
      while (!this.#sleepUntil(other, stage)) {
        await setImmediate();
        await isAwaited(other.rank);
      }
    }
  }

  /** Whether all others have this rank's collective in an area: asked right after they have met there. */
  agree(area: number): boolean {
    const signature = this.#own.words[callWord + area];
    return this.#others.every(({ words }) => words[callWord + area] === signature);
  }

  /** Whether another rank has come as far, now or within a few milliseconds. */
  #sleepUntil(other: Word, stage: number): boolean {
    for (let spin = 0; spin < spins; spin++) if (isReached(other, stage)) return true;
    const seen = Atomics.load(other.words, progressWord);
    if (((seen - stage) | 0) >= 0) return true;
    this.#futex.wait(other.address, seen, this.#own.address + timeoutWord * 4);
    return isReached(other, stage);
  }
}

interface Word {
  words: Int32Array;
  /** Of the first of them. */
  address: number;
}

function wordOf({ buffer, address }: Mapping): Word {
  return { words: new Int32Array(buffer, 0, barrierBytes / 4), address };
}

/** The difference counts: counters wrap around. */
function isReached({ words }: Word, stage: number): boolean {
  return ((Atomics.load(words, progressWord) - stage) | 0) >= 0;
}
