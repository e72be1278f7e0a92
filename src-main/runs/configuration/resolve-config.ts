import {
  type ConfigProblem,
  describeOptions,
  describeRemedy,
  describeRule,
  explainConfigError,
  formatConfigError,
  getPath,
  isInRange,
  mergeConfig,
  type OptionDescription,
  type PlainObject,
  setPath,
  showValue,
  unknownOptionMessage,
} from '../../../core/options/index.ts';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import { type RunConfig, runConfigSchema } from '../../../core/protocol/run/config.ts';
import { mayResize } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import { changesOfAdaptedBases } from './hdet-combinations.ts';

const runOptions = describeOptions(runConfigSchema);
/** The default kinds, so that a layer may set `optimizer.learningRate` without naming the optimizer. */
const standardKinds = defaultsOf(runOptions.filter(({ path }) => path.endsWith('.kind')));

/** Options of the run configuration, then the project's hyperparameters under their bare names. */
export function optionsOf(project: ProjectDescription): OptionDescription[] {
  const clash = project.hyperparameters.find(({ path }) => runOptions.some((option) => option.path === path));
  if (clash !== undefined) {
    throw new Error(
      `Project "${project.name}" has a hyperparameter "${clash.path}", which is an option of every run. Give ` +
        'it another name.',
    );
  }
  return [...runOptions, ...project.hyperparameters];
}

/**
 * The configuration of a run from its layers: general defaults, the project's, then `overrides` in their order (a file,
 * flags).
 * @throws Error with one line per wrong value: path, value, rule, remedy
 */
export function resolveConfig(project: ProjectDescription, overrides: readonly PlainObject[]): RunConfig {
  const config = parseConfig(layered(project, overrides));
  refuseUnknownHyperparameters(project, config);
  return config;
}

export type CheckedConfig = { config: RunConfig; problems: [] } | { config: null; problems: ConfigProblem[] };

/** Like {@link resolveConfig}, but returns the problem of each option instead of throwing. */
export function checkConfig(project: ProjectDescription, overrides: readonly PlainObject[]): CheckedConfig {
  return check(layered(project, overrides), (config) => checkHyperparameters(project, config));
}

/** Like {@link checkConfig}, for a resume with some options changed. */
export function checkChanges(before: RunConfig, override: PlainObject): CheckedConfig {
  return check(mergeConfig(before, override), (config) => checkResumed(before, config));
}

/** The configuration of a resume with some options changed. @throws Error with one line per wrong value */
export function changeConfig(before: RunConfig, override: PlainObject): RunConfig {
  const config = parseConfig(mergeConfig(before, override));
  const [wrong] = checkResumed(before, config);
  if (wrong !== undefined) throw new Error(wrong.message);
  return config;
}

function check(input: PlainObject, findProblems: (config: RunConfig) => ConfigProblem[]): CheckedConfig {
  const parsed = runConfigSchema.safeParse(input);
  if (!parsed.success) {
    return { config: null, problems: explainConfigError(parsed.error, { input, descriptions: runOptions }) };
  }
  const problems = findProblems(parsed.data);
  return problems.length === 0 ? { config: parsed.data, problems: [] } : { config: null, problems };
}

function checkResumed(before: RunConfig, config: RunConfig): ConfigProblem[] {
  return [...checkMembers(before, config), ...changesOfAdaptedBases(before, config)];
}

/**
 * Each member resumes from its own state, so the number of members cannot change. Ranks that train one model may become
 * more or fewer.
 */
function checkMembers(before: RunConfig, { members, strategy }: RunConfig): ConfigProblem[] {
  if (members === before.members || (mayResize(before) && strategy.kind === before.strategy.kind)) return [];
  const message =
    `A resumed run keeps its ${before.members} members, but ${members} were requested. Omit the option, or start ` +
    'a new run.';
  return [{ path: 'members', message }];
}

function layered(project: ProjectDescription, overrides: readonly PlainObject[]): PlainObject {
  const ofProject = [{ hyperparameters: defaultsOf(project.hyperparameters) }, project.defaults as PlainObject];
  return [standardKinds, ...ofProject, ...overrides].reduce((merged, layer) => mergeConfig(merged, layer));
}

/** @throws Error with one line per wrong value: path, value, rule, remedy */
export function parseConfig(input: PlainObject): RunConfig {
  const parsed = runConfigSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new Error(
    `The configuration is not valid.\n${formatConfigError(parsed.error, { input, descriptions: runOptions })}`,
  );
}

function defaultsOf(options: readonly OptionDescription[]): PlainObject {
  return options.reduce<PlainObject>(
    (values, { path, default: value }) => (value === undefined ? values : setPath(values, path, value)),
    {},
  );
}

function refuseUnknownHyperparameters(project: ProjectDescription, config: RunConfig): void {
  const [unknown] = unknownHyperparameters(project, config);
  if (unknown !== undefined) throw new Error(unknown.message);
}

function unknownHyperparameters(project: ProjectDescription, config: RunConfig): ConfigProblem[] {
  const known = new Set(project.hyperparameters.map(({ path }) => path.split('.')[0]));
  const unknown = Object.keys(config.hyperparameters).filter((name) => !known.has(name));
  return unknown.map((name) => ({
    path: `hyperparameters.${name}`,
    message: `${unknownOptionMessage(name, optionsOf(project))} It is not a hyperparameter of project "${project.name}".`,
  }));
}

/**
 * Checks hyperparameters against their descriptions. The project's own schema, which may have more rules, is checked at
 * the start of a run.
 */
function checkHyperparameters(project: ProjectDescription, config: RunConfig): ConfigProblem[] {
  const wrong = project.hyperparameters.flatMap((description) => {
    const { path, when } = description;
    if (when && !when.equals.includes(String(getPath(config.hyperparameters, when.path.split('.'))))) return [];
    const value = getPath(config.hyperparameters, path.split('.'));
    if (fits[description.type](value, description)) return [];
    const state = value === undefined ? 'is missing: it' : `is ${showValue(value)}, but`;
    const message = `${path} ${state} must be ${describeRule(description)}. ${describeRemedy(description)}`;
    return [{ path: `hyperparameters.${path}`, message }];
  });
  return [...unknownHyperparameters(project, config), ...wrong];
}

const isNumber = (value: unknown, description: OptionDescription): boolean =>
  typeof value === 'number' && Number.isFinite(value) && isInRange(value, description);

/** Whether a value that a page sent has the type of an option. */
const fits: Record<OptionDescription['type'], (value: unknown, description: OptionDescription) => boolean> = {
  number: isNumber,
  integer: (value, description) => Number.isSafeInteger(value) && isNumber(value, description),
  'auto-or-count': (value, description) =>
    value === 'auto' || (Number.isSafeInteger(value) && isNumber(value, description)),
  boolean: (value) => typeof value === 'boolean',
  string: (value) => typeof value === 'string',
  choice: (value, { choices = [] }) => choices.some((choice) => choice.value === value),
  'device-selection': () => true,
  json: () => true,
};
