/**
 * Ctrl-C reaches this process several times: the terminal sends SIGINT to all processes of the command, and npm and the launcher
 * (`tutti.mjs`) pass theirs on. Signals within this time are one key press.
 */
const samePressMs = 500;

/** Tells key presses from the copies of one. */
export class KeyPress {
  #lastMs = Number.NEGATIVE_INFINITY;

  /** Whether a SIGINT that arrives now is a new key press. */
  isNew(): boolean {
    const nowMs = performance.now();
    const isNew = nowMs - this.#lastMs > samePressMs;
    this.#lastMs = nowMs;
    return isNew;
  }
}
