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
