import { setImmediate } from 'node:timers/promises';

/** Longest time between two turns of the event loop. */
const intervalMs = 15;

/**
 * Turns the event loop at intervals, so that messages arrive and leave: it does not turn while tensors are computed. Ranks of
 * one process share a throttle, so that all of them receive a message between the same two steps.
 */
export class Throttle {
  private lastMs = performance.now();
  private pending: Promise<void> | null = null;

  /** Call it between steps. @param before called when the event loop is about to turn */
  async afterStep(before: () => void): Promise<void> {
    if (this.pending === null && performance.now() - this.lastMs < intervalMs) return;
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
