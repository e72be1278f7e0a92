import type { Control } from '../../../core/protocol/run/messages.ts';

/** Of what was asked of a run so far, what ranks that come later are to be told, too. */
export class LastingControls {
  #isStopping = false;
  #isStoppingAtEpochEnd = false;
  #isPaused = false;
  readonly #stoppedRanks = new Set<number>();

  /** All ranks are to end at their next step. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** A stop of all ranks ends a pause. */
  take(control: Control): void {
    const { action } = control;
    if (action === 'stop') this.#isStopping = true;
    if (action === 'stop-at-epoch-end') this.#isStoppingAtEpochEnd = true;
    if (action === 'stop-rank') this.#stoppedRanks.add(control.rank);
    if (action === 'pause') this.#isPaused = true;
    if (action === 'resume' || action === 'stop' || action === 'stop-at-epoch-end') this.#isPaused = false;
  }

  list(): Control[] {
    return [
      ...(this.#isStopping ? [{ action: 'stop' as const }] : []),
      ...(this.#isStoppingAtEpochEnd ? [{ action: 'stop-at-epoch-end' as const }] : []),
      ...[...this.#stoppedRanks].map((rank) => ({ action: 'stop-rank' as const, rank })),
      ...(this.#isPaused ? [{ action: 'pause' as const }] : []),
    ];
  }
}
