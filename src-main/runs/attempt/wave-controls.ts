import { applyDiskEvent, type DiskWaits } from '../../../core/protocol/pages/runs/disk-use.ts';
import { applyControl, initialControlState } from '../../../core/protocol/run/control-state.ts';
import type { Control } from '../../../core/protocol/run/messages.ts';

/** The event of a rank or of the hub (null) that begins or ends a wait for space on the disk. */
export interface DiskEvent {
  kind: string;
  rank: number | null;
  message: string;
}

/**
 * What the user has asked of a wave's ranks, and whether time counts for them: not in a pause, nor while a write waits
 * for space.
 */
export class WaveControls {
  /** All controls so far, for ranks that have not connected yet: each rank gets the same controls in the same order. */
  readonly sent: Control[] = [];
  readonly #onHold: (isHeld: boolean) => void;
  #state = initialControlState;
  #diskWaits: DiskWaits = new Map();
  #isHeld = false;

  /** @param onHold called when time stops to count for the ranks (true), and when it counts again */
  constructor(onHold: (isHeld: boolean) => void) {
    this.#onHold = onHold;
  }

  add(control: Control): void {
    this.sent.push(control);
    this.#state = applyControl(this.#state, control);
    this.#hold();
  }

  follow(event: DiskEvent): void {
    this.#diskWaits = applyDiskEvent(this.#diskWaits, event);
    this.#hold();
  }

  #hold(): void {
    const isHeld = this.#state.isPaused || this.#diskWaits.size > 0;
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    this.#onHold(isHeld);
  }
}
