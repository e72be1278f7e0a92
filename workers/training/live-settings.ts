import { setImmediate } from 'node:timers/promises';
import { type RunSettings, type SettingChanges, settingNames, settingPaths } from '../../core/protocol/run/settings.ts';
import type { Callback } from '../callbacks/callback.ts';
import type { Position, Report } from '../member/report.ts';

/** A rank's current settings. Passes them to its callbacks, and reports every change to the hub. */
export class LiveSettings {
  readonly #callbacks: readonly Callback[];
  readonly #report: Report;
  #now: RunSettings;

  constructor(start: RunSettings, callbacks: readonly Callback[], report: Report) {
    this.#callbacks = callbacks;
    this.#report = report;
    this.#now = start;
    this.#notifyCallbacks();
  }

  get now(): Readonly<RunSettings> {
    return this.#now;
  }

  /** Adopts requested values that differ from the current ones, from the step after `position` on. */
  adopt(requested: Readonly<SettingChanges>, position: Position): void {
    for (const name of settingNames) {
      const [from, to] = [this.#now[name], requested[name]];
      if (to === undefined || to === from) continue;
      this.#now = { ...this.#now, [name]: to };
      this.#notifyCallbacks();
      const path = settingPaths[name];
      this.#report.event('changed', `${path} changed from ${from} to ${to}.`, position, { path, from, to });
    }
  }

  #notifyCallbacks(): void {
    for (const callback of this.#callbacks) callback.onSettings?.(this.#now);
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
