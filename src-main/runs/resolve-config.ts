import type { Placement } from '../../protocol/devices.ts';
import {
  describeOptions,
  formatConfigError,
  mergeConfig,
  type OptionDescription,
  type PlainObject,
  setPath,
  unknownOptionMessage,
} from '../../protocol/options.ts';
import type { ProjectDescription } from '../../protocol/project-description.ts';
import { type RunConfig, runConfigSchema } from '../../protocol/run-config.ts';

const runOptions = describeOptions(runConfigSchema);
/** So that a layer may set `optimizer.learningRate` without a word on the optimizer. */
const standardKinds = defaultsOf(runOptions.filter(({ path }) => path.endsWith('.kind')));

/** Options of the run configuration, then the project's hyperparameters under their bare names. */
export function optionsOf(project: ProjectDescription): OptionDescription[] {
  const clash = project.hyperparameters.find(({ path }) => runOptions.some((option) => option.path === path));
  if (clash !== undefined) {
    throw new Error(
      `Project "${project.name}" has a hyperparameter "${clash.path}", which is an option of every run. Give it another name.`,
    );
  }
  return [...runOptions, ...project.hyperparameters];
}

/**
 * The configuration of a run from its layers: general defaults, the project's, then `overrides` in their order (a file, flags).
 * @throws with one line per wrong value: path, value, rule, remedy
 */
export function resolveConfig(project: ProjectDescription, overrides: readonly PlainObject[]): RunConfig {
  const ofProject = [{ hyperparameters: defaultsOf(project.hyperparameters) }, project.defaults as PlainObject];
  const layers = [standardKinds, ...ofProject, ...overrides];
  const config = parseConfig(layers.reduce((merged, layer) => mergeConfig(merged, layer)));
  refuseUnknownHyperparameters(project, config);
  return config;
}

/** @throws with one line per wrong value: path, value, rule, remedy */
export function parseConfig(input: PlainObject): RunConfig {
  const parsed = runConfigSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new Error(
    `The configuration is not valid.\n${formatConfigError(parsed.error, { input, descriptions: runOptions })}`,
  );
}

/** @throws when parts of a configuration exclude each other, with the reason and the way out */
export function refuseCombinations(config: RunConfig, plan: readonly Placement[]): void {
  const { earlyStopping } = config;
  const waves = 1 + Math.max(...plan.map(({ wave }) => wave));
  if (earlyStopping.enabled && earlyStopping.joint && earlyStopping.monitor.includes('{rank}')) {
    throw new Error(
      `Joint early stopping cannot monitor "${earlyStopping.monitor}": that differs from rank to rank. Monitor a metric of the ` +
        'ensemble (val/ens_nll, say), or let each rank stop by itself with --early-stopping.joint false.',
    );
  }
  if (earlyStopping.enabled && earlyStopping.joint && waves > 1) {
    throw new Error(
      `Joint early stopping needs all ${config.members} members to train at the same time, but this plan has ${waves} waves. ` +
        'Use --placement share, fewer members, or --early-stopping.joint false.',
    );
  }
}

function defaultsOf(options: readonly OptionDescription[]): PlainObject {
  return options.reduce<PlainObject>(
    (values, { path, default: value }) => (value === undefined ? values : setPath(values, path, value)),
    {},
  );
}

function refuseUnknownHyperparameters(project: ProjectDescription, config: RunConfig): void {
  const known = new Set(project.hyperparameters.map(({ path }) => path.split('.')[0]));
  const unknown = Object.keys(config.hyperparameters).find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw new Error(
    `${unknownOptionMessage(unknown, optionsOf(project))} It is no hyperparameter of project "${project.name}".`,
  );
}
