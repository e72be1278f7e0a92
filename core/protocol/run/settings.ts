import { z } from 'zod';
import { learningRateSchema } from './optimizer-config.ts';
import { type PlainObject, setPath } from '../../options/index.ts';
import { patienceSchema, type RunConfig } from './config.ts';
import { lockstepReason } from './strategy-rules.ts';

/** What of a run's configuration can be changed while it trains; ranges and help are those of the configuration. */
export const runSettingsSchema = z.strictObject({
  /** Base rate: the schedule goes on from it. */
  learningRate: learningRateSchema,
  /** Of early stopping, in evaluations. */
  patience: patienceSchema,
});
export type RunSettings = z.output<typeof runSettingsSchema>;
export type SettingName = keyof RunSettings;

export const settingChangesSchema = runSettingsSchema.partial();
export type SettingChanges = z.output<typeof settingChangesSchema>;

/** Where each setting stands in the configuration. */
export const settingPaths = {
  learningRate: 'optimizer.learningRate',
  patience: 'earlyStopping.patience',
} as const satisfies Record<SettingName, string>;

export const settingNames = Object.keys(settingPaths) as SettingName[];

/** As a run starts. */
export function settingsOf({ optimizer, earlyStopping }: RunConfig): RunSettings {
  return { learningRate: optimizer.learningRate, patience: earlyStopping.patience };
}

/** What counts in a run now, as a configuration: its own, with what was changed since. */
export function withChanges(config: RunConfig, changed: SettingChanges = {}): PlainObject {
  return settingNames.reduce<PlainObject>(
    (so, name) => (changed[name] === undefined ? so : setPath(so, settingPaths[name], changed[name])),
    { ...config },
  );
}

/** Why a setting means nothing in a run; null where it does. */
export function whyNotSet(setting: SettingName, { earlyStopping }: RunConfig): string | null {
  if (setting !== 'patience' || earlyStopping.enabled) return null;
  return 'Early stopping is off in this run, so there is no patience to change. Turn it on in a new run.';
}

/** Why no rank of a run can be stopped alone; null where one can. */
export function whyNotStopRank(config: RunConfig): string | null {
  if (config.members === 1) return 'The run has one member. Stop the run instead.';
  const reason = lockstepReason(config);
  if (reason === null) return null;
  return `With ${reason} every step needs all ranks, so one alone cannot stop. Stop all of them jointly.`;
}
