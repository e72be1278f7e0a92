import { type RunSettings, type SettingChanges, settingNames, settingPaths } from '../../core/protocol/run/settings.ts';
import type { Callback } from '../callbacks/callback.ts';
import type { Position, Report } from '../member/report.ts';

/** The settings that a rank trains with now. Its callbacks are told of them, the hub of every change. */
export class LiveSettings {
  readonly #callbacks: readonly Callback[];
  readonly #report: Report;
  #now: RunSettings;

  constructor(start: RunSettings, callbacks: readonly Callback[], report: Report) {
    this.#callbacks = callbacks;
    this.#report = report;
    this.#now = start;
    this.#tellCallbacks();
  }

  get now(): Readonly<RunSettings> {
    return this.#now;
  }

  /** Takes over what is asked for and not so yet: it counts from the step after `position` on. */
  adopt(wanted: Readonly<SettingChanges>, position: Position): void {
    for (const name of settingNames) {
      const [from, to] = [this.#now[name], wanted[name]];
      if (to === undefined || to === from) continue;
      this.#now = { ...this.#now, [name]: to };
      this.#tellCallbacks();
      const path = settingPaths[name];
      this.#report.event('changed', `${path} changed from ${from} to ${to}.`, position, { path, from, to });
    }
  }

  #tellCallbacks(): void {
    for (const callback of this.#callbacks) callback.onSettings?.(this.#now);
  }
}
