import { setImmediate } from 'node:timers/promises';

/** Longest time without a look at messages from the hub. */
const everyMs = 15;

/**
 * Lets messages in and out now and then: the event loop never turns while tensors are computed. Ranks of one process share one breath, so that
 * all of them hear of a message between the same two steps.
 */
export class Breath {
  private lastMs = performance.now();
  private pending: Promise<void> | null = null;

  /** To be called between steps. @param before called if the event loop is about to turn */
  async take(before: () => void): Promise<void> {
    if (this.pending === null && performance.now() - this.lastMs < everyMs) return;
    before();
    this.pending ??= this.turn();
    await this.pending;
  }

  private async turn(): Promise<void> {
    await setImmediate();
    this.lastMs = performance.now();
    this.pending = null;
  }
}
