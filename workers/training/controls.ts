import type { Control } from '../../protocol/messages.ts';
import type { SettingChanges } from '../../protocol/run-settings.ts';

/** What the user asked of this rank; the trainer looks at every step. */
export class Controls {
  /** Names under which to keep checkpoints at the next step. */
  readonly checkpointNames: string[] = [];
  #settings: SettingChanges = {};
  #stopRequested = false;
  #stopAtEpochEndRequested = false;
  #rankStopRequested = false;
  #isPaused = false;
  #next = Promise.withResolvers<void>();

  get stopRequested(): boolean {
    return this.#stopRequested;
  }

  /** All ranks end with the epochs that they are in. */
  get stopAtEpochEndRequested(): boolean {
    return this.#stopAtEpochEndRequested;
  }

  /** All ranks are to end, now or with their epochs. */
  get endRequested(): boolean {
    return this.#stopRequested || this.#stopAtEpochEndRequested;
  }

  /** This rank alone is to end: its hub tells no other. */
  get rankStopRequested(): boolean {
    return this.#rankStopRequested;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** What was asked for last of each setting. */
  get settings(): Readonly<SettingChanges> {
    return this.#settings;
  }

  /** A stop of all ranks ends a pause, and no pause can follow it. */
  take(control: Control): void {
    switch (control.action) {
      case 'stop':
        this.#stopRequested = true;
        this.#isPaused = false;
        break;
      case 'stop-at-epoch-end':
        this.#stopAtEpochEndRequested = true;
        this.#isPaused = false;
        break;
      case 'stop-rank':
        this.#rankStopRequested = true;
        break;
      case 'pause':
        this.#isPaused = !this.#stopRequested;
        break;
      case 'resume':
        this.#isPaused = false;
        break;
      case 'checkpoint':
        this.checkpointNames.push(control.name);
        break;
      case 'set':
        this.#settings = { ...this.#settings, ...control.changes };
    }
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  /** Resolves when the next wish has been taken. */
  next(): Promise<void> {
    return this.#next.promise;
  }
}
