import { z } from 'zod';
import {
  describeOptions,
  describeRule,
  leavesOf,
  type OptionDescription,
  parseOptionValue,
  type PlainObject,
} from '../../../../core/options/index.ts';
import { type Attempt, configOfAttempt, type RunEvent, type RunRecord } from '../../../../core/protocol/run/record.ts';
import {
  type SettingChanges,
  type SettingName,
  settingNames,
  settingPaths,
  settingsOf,
  whyNotSet,
  withChanges,
} from '../../../../core/protocol/run/settings.ts';
import { unknownText } from '../../../../core/text/numbers.ts';
import { type RunConfig, runConfigSchema } from '../../../../core/protocol/run/config.ts';

/** The configurations that a run trained with, in order: each attempt's at its start and at its end. */
export function configHistory(record: Pick<RunRecord, 'attempts' | 'config' | 'changed'>): PlainObject[] {
  if (record.attempts.length === 0) return [{ ...record.config }, withChanges(record.config, record.changed)];
  return record.attempts.flatMap((attempt, index) => {
    const config = configOfAttempt(record, attempt);
    const isLast = index === record.attempts.length - 1;
    return [{ ...config }, withChanges(config, isLast ? record.changed : attempt.changed)];
  });
}

/** `Attempt 2, resumed at epoch 5 (step 12)`. */
export function describeAttempt({ attempt, kind, from }: Attempt): string {
  const verbs = { start: 'started', fork: 'forked', resume: 'resumed', restart: 'restarted' };
  const begun = `Attempt ${attempt}${kind === undefined ? '' : `, ${verbs[kind]}`}`;
  if (from === undefined || from === null || from.step === 0) return begun;
  return `${begun} at epoch ${from.epoch + 1} (step ${from.step})`;
}

/** An option that was changed while the run trained. */
interface LiveChange {
  path: string;
  /** The configured value. */
  configured: number;
  now: number;
  /** When each rank changed to which value, in order. */
  steps: { attempt: number; rank: number | null; step: number | null; to: unknown; time: string }[];
}

const changeSchema = z.object({ path: z.string(), to: z.unknown() });

/** The options that were changed while a run trained, also those that were set back since. */
export function liveChanges({ config, changed }: RunRecord, events: readonly RunEvent[]): LiveChange[] {
  const configured = settingsOf(config);
  const steps = events.flatMap(({ kind, data, attempt, rank, step, time }) => {
    const change = kind === 'changed' ? changeSchema.safeParse(data) : null;
    return change?.success ? [{ path: change.data.path, attempt, rank, step, to: change.data.to, time }] : [];
  });
  return settingNames.flatMap((name) => {
    const path = settingPaths[name];
    const own = steps.filter((step) => step.path === path).map(({ path: _path, ...step }) => step);
    if (own.length === 0 && changed?.[name] === undefined) return [];
    return [{ path, configured: configured[name], now: changed?.[name] ?? configured[name], steps: own }];
  });
}

/** An option that differs between configurations, or within the history of one. */
interface ConfigDifference {
  path: string;
  /** For each history the successive values; undefined where the option did not exist. */
  values: unknown[][];
}

/**
 * Options that differ between the configurations of runs or attempts, in the order of their first appearance.
 * @param histories for each run the configurations that it trained with, in order
 */
export function configDifferences(histories: readonly (readonly PlainObject[])[]): ConfigDifference[] {
  const flat = histories.map((history) => history.map((config) => new Map(leavesOf(config))));
  const paths = new Set(flat.flat().flatMap((leaves) => [...leaves.keys()]));
  return [...paths]
    .map((path) => ({ path, values: flat.map((history) => withoutRepeats(history.map((leaves) => leaves.get(path)))) }))
    .filter(({ values }) => values.some(({ length }) => length > 1) || new Set(values.map(keyOf)).size > 1);
}

/** `0.1 → 0.01` where the value changed. */
export function spellHistory(values: readonly unknown[]): string {
  return values.map(spellValue).join(' → ');
}

/** A value as the terminal takes it: `adam`, `true`, `[0,2]`; `–` for an option that is not set. */
export function spellValue(value: unknown): string {
  return typeof value === 'string' ? value : keyOf(value);
}

function withoutRepeats(values: readonly unknown[]): unknown[] {
  return values.filter((value, index) => index === 0 || keyOf(value) !== keyOf(values[index - 1]));
}

function keyOf(value: unknown): string {
  return JSON.stringify(value) ?? unknownText;
}

/** One option of a run's configuration and its default. */
export interface ConfigEntry {
  /** `earlyStopping.patience`. */
  path: string;
  value: unknown;
  /** Undefined where the defaults lack the option, as for another optimizer. */
  standard: unknown;
  isChanged: boolean;
  help: string;
  unit: string | null;
}

/** Every option of a run, in the order of the configuration. */
export function configEntries(
  config: RunConfig,
  defaults: RunConfig,
  options: readonly OptionDescription[],
): ConfigEntry[] {
  const standards = new Map(leavesOf(defaults));
  const descriptions = new Map(options.map((option) => [option.path, option]));
  return leavesOf(config).map(([path, value]) => {
    const standard = standards.get(path);
    const description = descriptions.get(path);
    return {
      path,
      value,
      standard,
      isChanged: JSON.stringify(value) !== JSON.stringify(standard),
      help: description?.help ?? '',
      unit: description?.unit ?? null,
    };
  });
}

/** A setting of a run that can be changed while it trains. */
interface SettingField {
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

interface SettingDraft {
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
