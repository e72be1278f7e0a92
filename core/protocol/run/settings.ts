import { z } from 'zod';
import { learningRateSchema } from './optimizer-config.ts';
import { type PlainObject, setPath } from '../../options/index.ts';
import { patienceSchema, type RunConfig } from './config.ts';
import { adapts, lockstepReason } from './strategies/strategy-rules.ts';

/** The options of a run that can be changed while it trains, with the ranges and help of the configuration. */
export const runSettingsSchema = z.strictObject({
  /** Base rate: the schedule continues with it. */
  learningRate: learningRateSchema,
  /** Patience of early stopping, in evaluations. */
  patience: patienceSchema,
});
export type RunSettings = z.output<typeof runSettingsSchema>;
export type SettingName = keyof RunSettings;

export const settingChangesSchema = runSettingsSchema.partial();
export type SettingChanges = z.output<typeof settingChangesSchema>;

/** The path of each setting in the configuration. */
export const settingPaths = {
  learningRate: 'optimizer.learningRate',
  patience: 'earlyStopping.patience',
} as const satisfies Record<SettingName, string>;

export const settingNames = Object.keys(settingPaths) as SettingName[];

/** The settings at the start of a run. */
export function settingsOf({ optimizer, earlyStopping }: RunConfig): RunSettings {
  return { learningRate: optimizer.learningRate, patience: earlyStopping.patience };
}

/** The configuration of a run with the changes made since its start. */
export function withChanges(config: RunConfig, changed: SettingChanges = {}): PlainObject {
  return settingNames.reduce<PlainObject>(
    (layer, name) => (changed[name] === undefined ? layer : setPath(layer, settingPaths[name], changed[name])),
    { ...config },
  );
}

/** Why a setting has no effect in a run; null if it has one. */
export function whyNotSet(setting: SettingName, { earlyStopping, strategy }: RunConfig): string | null {
  if (setting === 'patience') {
    if (earlyStopping.enabled) return null;
    return 'Early stopping is off in this run, so there is no patience to change. Turn it on in a new run.';
  }
  if (!adapts(strategy) || !strategy.diverge.includes('learningRate')) return null;
  return (
    'The strategy hdet adapts the learning rate itself, from where the schedule leaves it. To follow the schedule ' +
    'and its base rate again, resume the run with --strategy.adapt false.'
  );
}

/** Why no rank of a run can be stopped alone; null if ranks can. */
export function whyNotStopRank(config: RunConfig): string | null {
  if (config.members === 1) return 'The run has one member. Stop the run instead.';
  const reason = lockstepReason(config);
  if (reason === null) return null;
  return `With ${reason} every step needs all ranks, so a single rank cannot stop. Stop all ranks jointly.`;
}
