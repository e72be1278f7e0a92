import { setImmediate } from 'node:timers/promises';
import type { Futex, Mapping } from '../../system/libc.ts';
import { MappedWord, writeTimespec } from './mapped-word.ts';

/** Bytes at the beginning of each rank's file, which are the barrier's. */
export const barrierBytes = 4096;
/** Where they have how many stages the rank has completed; the collective that is under way in either area; how long a sleep is. */
const progressOffset = 0;
const callsOffset = 4;
const timespecOffset = 16;
/** About 10 µs: less than a sleep and a wake-up cost. */
const spins = 2000;

/**
 * Where ranks wait for each other without the hub: each counts in its own file's first word what it has completed, and sleeps on those of
 * the others. A rank that will never come is the relay's to find out: whoever waits asks every few milliseconds.
 */
export class MappedBarrier {
  readonly #own: Progress;
  readonly #others: (Progress & { rank: number })[];
  readonly #timespecAddress: number;

  /** @param others by rank */
  constructor(futex: Futex, own: Mapping, others: ReadonlyMap<number, Mapping>) {
    this.#own = progressIn(own, futex);
    this.#others = [...others].map(([rank, mapping]) => ({ ...progressIn(mapping, futex), rank }));
    this.#timespecAddress = writeTimespec(own, timespecOffset);
  }

  /** Says which collective this rank has in an area, before it first meets the others there. */
  announce(signature: number, area: number): void {
    this.#own.calls[area] = signature;
  }

  /**
   * Resolves once all ranks have come as far as this one.
   * @param isAwaited called every few milliseconds meanwhile, with a rank that has not come; what it throws ends the wait
   */
  async meet(isAwaited: (rank: number) => Promise<void>): Promise<void> {
    const stage = (this.#own.stages.value + 1) | 0;
    this.#own.stages.advance(stage);
    for (const { rank, stages } of this.#others) {
      while (!stages.sleepUntil(stage, spins, this.#timespecAddress)) {
        await setImmediate();
        await isAwaited(rank);
      }
    }
  }

  /** Whether all others have this rank's collective in an area: asked right after they have met there. */
  agree(area: number): boolean {
    const signature = this.#own.calls[area];
    return this.#others.every(({ calls }) => calls[area] === signature);
  }
}

interface Progress {
  /** How many stages the rank has completed. */
  stages: MappedWord;
  calls: Int32Array;
}

function progressIn(mapping: Mapping, futex: Futex): Progress {
  return {
    stages: new MappedWord(futex, mapping, progressOffset),
    calls: new Int32Array(mapping.buffer, callsOffset, 2),
  };
}
