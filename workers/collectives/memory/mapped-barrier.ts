import { setImmediate } from 'node:timers/promises';
import type { Futex, Mapping } from '../../system/libc.ts';
import { MappedWord, writeTimespec } from './mapped-word.ts';

/** Bytes at the beginning of each rank's file that belong to the barrier. */
export const barrierBytes = 4096;
/**
 * Offsets: the number of stages that the rank has completed, the current collective of either area, the length of a
 * sleep.
 */
const progressOffset = 0;
const callsOffset = 4;
const timespecOffset = 16;
/** About 10 µs, less than a sleep and a wake-up cost. */
const spins = 2000;

/**
 * Synchronises ranks without the hub: each counts completed stages in the first word of its file, and sleeps on the
 * words of the others. The relay detects a rank that never comes; a waiting rank asks it every few milliseconds.
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

  /** Publishes which collective this rank runs in an area, before it first meets the others there. */
  announce(signature: number, area: number): void {
    this.#own.calls[area] = signature;
  }

  /**
   * Resolves once all ranks have come as far as this one.
   * @param isAwaited called every few milliseconds during the wait, with a rank that has not come; ends the wait by
   * throwing
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

  /** Whether all ranks run the same collective in an area. Call it right after they have met there. */
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
