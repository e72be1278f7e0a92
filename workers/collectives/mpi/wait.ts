import { setImmediate } from 'node:timers/promises';
import type { MpiLibrary } from './library.ts';

/** While messages may come at any moment, a waiting rank polls and leaves its core to others. */
const pollingMs = 0.3;
/** Later it also sleeps, briefly. */
const sleepMs = 0.05;
/** The event loop turns after this time, which delivers a failure of the group. */
const turnMs = 5;

const sleeper = new Int32Array(new SharedArrayBuffer(4));

/**
 * A wait for messages of MPI by polling, on the thread that computes: a thread for blocking calls would cost two
 * wake-ups a call, and nothing could end its wait for a rank that has left.
 */
export class Polling {
  readonly #mpi: MpiLibrary;
  readonly #sinceMs = performance.now();

  constructor(mpi: MpiLibrary) {
    this.#mpi = mpi;
  }

  /**
   * Polls until the event loop should turn.
   * @param isDone also lets MPI move messages
   * @returns whether it is done
   */
  poll(isDone: () => boolean): boolean {
    const startMs = performance.now();
    for (let polls = 1; !isDone(); polls += 1) {
      this.#mpi.yield();
      if (polls % 8 !== 0) continue;
      const nowMs = performance.now();
      if (nowMs - this.#sinceMs > pollingMs) Atomics.wait(sleeper, 0, 0, sleepMs);
      if (nowMs - startMs >= turnMs) return false;
    }
    return true;
  }
}

/**
 * Waits for messages of MPI.
 * @param isDone also lets MPI move messages
 * @param isAwaited called every few milliseconds; ends the wait by throwing
 */
export async function waitFor(mpi: MpiLibrary, isDone: () => boolean, isAwaited: () => void): Promise<void> {
  const polling = new Polling(mpi);
  while (!polling.poll(isDone)) {
    await setImmediate();
    isAwaited();
  }
}
