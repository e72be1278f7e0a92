import type { Control } from '../../../core/protocol/run/messages.ts';
import type { SettingChanges } from '../../../core/protocol/run/settings.ts';

/** What the user asked of this rank; the trainer looks at every step. */
export class Controls {
  /** Names under which to keep checkpoints at the next step. */
  readonly checkpointNames: string[] = [];
  readonly #rank: number;
  #settings: SettingChanges = {};
  #stopRequested = false;
  #stopAtEpochEndRequested = false;
  #rankStopRequested = false;
  #isPaused = false;
  #received = 0;
  /** Received, and not in effect yet. */
  readonly #waiting: Control[] = [];
  /** How many of those received may be in effect. */
  #admitted = Infinity;
  #next = Promise.withResolvers<void>();

  constructor(rank = 0) {
    this.#rank = rank;
  }

  /** What counts as the rank is launched: no wish of anyone, and known to all ranks before they train. */
  launch(settings: Readonly<SettingChanges>): void {
    this.#settings = settings;
  }

  get stopRequested(): boolean {
    return this.#stopRequested;
  }

  /** All ranks end with the epochs that they are in. */
  get stopAtEpochEndRequested(): boolean {
    return this.#stopAtEpochEndRequested;
  }

  /** This rank alone is to end. */
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

  /** Whether a stop of all ranks was asked for, now or with the epoch, be it in effect or not. */
  get stopReceived(): boolean {
    const isReceived = this.#waiting.some(({ action }) => action === 'stop' || action === 'stop-at-epoch-end');
    return this.#stopRequested || this.#stopAtEpochEndRequested || isReceived;
  }

  /** Controls received so far. */
  get received(): number {
    return this.#received;
  }

  /**
   * Has every control wait until {@link admit} lets it in. Only during a pause they take effect at once, up to the one that ends it:
   * then no rank does a step, so that it is the same step for all.
   */
  holdBack(): void {
    this.#admitted = this.#received;
  }

  /** Lets the first `count` controls take effect; those of them that are still on their way are waited for. */
  async admit(count: number): Promise<void> {
    while (this.#received < count) await this.next();
    this.#admitted = Math.max(this.#admitted, count);
    this.#letIn();
  }

  take(control: Control): void {
    this.#received += 1;
    this.#waiting.push(control);
    this.#letIn();
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  /** Resolves when the next control has been received. */
  next(): Promise<void> {
    return this.#next.promise;
  }

  #letIn(): void {
    while (this.#waiting.length > 0 && (this.#isPaused || this.#received - this.#waiting.length < this.#admitted)) {
      this.#apply(this.#waiting.splice(0, 1)[0]);
    }
  }

  /** A stop ends a pause, and no pause can follow it. */
  #apply(control: Control): void {
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
        this.#rankStopRequested ||= control.rank === this.#rank;
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
  }
}
