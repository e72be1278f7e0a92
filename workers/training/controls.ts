import { setImmediate } from 'node:timers/promises';
import { applyControl, type ControlState, initialControlState } from '../../core/protocol/run/control-state.ts';
import type { Control } from '../../core/protocol/run/messages.ts';
import type { SettingChanges } from '../../core/protocol/run/settings.ts';

/** The controls of one rank. The trainer reads their state at every step. */
export class Controls {
  /** Names under which to keep checkpoints at the next step. The trainer removes each name that it has handled. */
  readonly checkpointNames: string[] = [];
  readonly #rank: number;
  #state: ControlState = initialControlState;
  #received = 0;
  /** Controls that were received but are not in effect yet. */
  readonly #waiting: Control[] = [];
  #isHubGone = false;
  /** Number of received controls that may be in effect. */
  #admitted = Infinity;
  #next = Promise.withResolvers<void>();

  constructor(rank = 0) {
    this.#rank = rank;
  }

  /** Sets the settings at launch. They are no control: all ranks know them before they train. */
  launch(settings: Readonly<SettingChanges>): void {
    this.#state = { ...this.#state, settings };
  }

  get stopRequested(): boolean {
    return this.#state.isStopping;
  }

  /** All ranks end with their current epochs. */
  get stopAtEpochEndRequested(): boolean {
    return this.#state.isStoppingAtEpochEnd;
  }

  /** Only this rank ends. */
  get rankStopRequested(): boolean {
    return this.#state.stoppedRanks.includes(this.#rank);
  }

  get isPaused(): boolean {
    return this.#state.isPaused;
  }

  /** The last requested value of each setting. */
  get settings(): Readonly<SettingChanges> {
    return this.#state.settings;
  }

  /**
   * Whether a stop of all ranks, immediate or at the end of the epoch, was received, even if it is not in effect yet.
   */
  get stopReceived(): boolean {
    const isReceived = this.#waiting.some(({ action }) => action === 'stop' || action === 'stop-at-epoch-end');
    return this.stopRequested || this.stopAtEpochEndRequested || isReceived;
  }

  /** Whether the hub has died. The rank saves its state at its next step, and leaves. */
  get isHubGone(): boolean {
    return this.#isHubGone;
  }

  loseHub(): void {
    this.#isHubGone = true;
    this.#wake();
  }

  /** Number of controls received so far. */
  get received(): number {
    return this.#received;
  }

  /**
   * From now on controls wait until {@link admit} admits them. During a pause they take effect at once, up to the
   * control that ends the pause: no rank does a step then, so the step is the same for all.
   */
  holdBack(): void {
    this.#admitted = this.#received;
  }

  /** Puts the first `count` controls into effect, after waiting for those that have not arrived yet. */
  async admit(count: number): Promise<void> {
    while (this.#received < count && !this.#isHubGone) await this.next();
    this.#admitted = Math.max(this.#admitted, count);
    this.#applyAdmitted();
  }

  take(control: Control): void {
    this.#received += 1;
    this.#waiting.push(control);
    this.#applyAdmitted();
    this.#wake();
  }

  /** Resolves when the next control has been received, or the hub has died. */
  next(): Promise<void> {
    return this.#next.promise;
  }

  #wake(): void {
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  #applyAdmitted(): void {
    while (this.#waiting.length > 0 && (this.isPaused || this.#received - this.#waiting.length < this.#admitted)) {
      const [control] = this.#waiting.splice(0, 1);
      this.#state = applyControl(this.#state, control);
      if (control.action === 'checkpoint') this.checkpointNames.push(control.name);
    }
  }
}

/** Longest time between two turns of the event loop. */
const intervalMs = 15;

/**
 * Turns the event loop at intervals, so that messages arrive and leave: it does not turn while tensors are computed.
 * Ranks of one process share a throttle, so that all of them receive a message between the same two steps.
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
