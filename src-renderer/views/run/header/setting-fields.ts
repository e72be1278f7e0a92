import {
  describeOptions,
  describeRule,
  type OptionDescription,
  parseOptionValue,
} from '../../../../core/options/index.ts';
import { runConfigSchema } from '../../../../core/protocol/run/config.ts';
import type { RunRecord } from '../../../../core/protocol/run/record.ts';
import {
  type SettingChanges,
  type SettingName,
  settingNames,
  settingPaths,
  settingsOf,
  whyNotSet,
} from '../../../../core/protocol/run/settings.ts';

/** A setting of a run that can be changed while it trains. */
export interface SettingField {
  name: SettingName;
  /** The current value. */
  value: number;
  /** Its description in the configuration form. */
  option: OptionDescription;
  /** Why the setting has no effect in this run; null where it has. */
  reason: string | null;
}

/** The settings of a run that can be changed, with their current values. */
export function settingFields({ config, changed }: Pick<RunRecord, 'config' | 'changed'>): SettingField[] {
  const options = describeOptions(runConfigSchema);
  const now = { ...settingsOf(config), ...changed };
  return settingNames.flatMap((name) => {
    const fitting = options.filter(({ path }) => path === settingPaths[name]);
    // Each kind of optimizer describes the learning rate with its own default.
    const option = fitting.find(({ when }) => when?.equals.includes(config.optimizer.kind)) ?? fitting.at(0);
    return option === undefined ? [] : [{ name, value: now[name], option, reason: whyNotSet(name, config) }];
  });
}

export interface SettingDraft {
  /** Null while nothing is changed or a text is invalid. */
  changes: SettingChanges | null;
  /** Problems, by setting. */
  problems: Record<string, string>;
}

/** The changes that typed texts request, by setting; a text equal to the current value requests none. */
export function readChanges(fields: readonly SettingField[], typed: Readonly<Record<string, string>>): SettingDraft {
  const changes: SettingChanges = {};
  const problems: Record<string, string> = {};
  for (const { name, value, option } of fields) {
    if (typed[name] === undefined) continue;
    const wanted = readNumber(option, typed[name]);
    if (wanted === null) problems[name] = `Enter ${describeRule(option)}.`;
    else if (wanted !== value) changes[name] = wanted;
  }
  const isReady = Object.keys(problems).length === 0 && Object.keys(changes).length > 0;
  return { changes: isReady ? changes : null, problems };
}

function readNumber(option: OptionDescription, text: string): number | null {
  try {
    return Number(parseOptionValue(option, text));
  } catch {
    return null;
  }
}
