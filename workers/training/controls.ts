import type { Control } from '../../protocol/messages.ts';

/** What the user asked of this rank; the trainer looks at every step. */
export class Controls {
  /** Names under which to keep checkpoints at the next step. */
  readonly checkpointNames: string[] = [];
  #stopRequested = false;
  #isPaused = false;
  #next = Promise.withResolvers<void>();

  get stopRequested(): boolean {
    return this.#stopRequested;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** A stop ends a pause, and no pause can follow it. */
  take(control: Control): void {
    switch (control.action) {
      case 'stop':
        this.#stopRequested = true;
        this.#isPaused = false;
        break;
      case 'pause':
        this.#isPaused = !this.#stopRequested;
        break;
      case 'resume':
        this.#isPaused = false;
        break;
      case 'checkpoint':
        this.checkpointNames.push(control.name);
    }
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  /** Resolves when the next wish has been taken. */
  next(): Promise<void> {
    return this.#next.promise;
  }
}
