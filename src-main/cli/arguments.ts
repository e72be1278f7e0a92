import { Command, CommanderError, Option } from 'commander';
import {
  describeOptions,
  type OptionDescription,
  parseOptionValue,
  type PlainObject,
  setPath,
  unknownOptionMessage,
} from '../../core/options/index.ts';
import type { ProjectDescription } from '../../core/protocol/run/project-description.ts';
import { runConfigSchema } from '../../core/protocol/run/config.ts';
import { optionsOf } from '../runs/configuration/resolve-config.ts';
import { toUsageError, UsageError } from './errors.ts';

/** An option of a run that can be set from the terminal. */
export interface Setting {
  /** Where its value goes in the run configuration. */
  path: string;
  flag: string;
  isHyperparameter: boolean;
  /** One, or several where kinds of a union describe it differently. */
  variants: OptionDescription[];
}

/** What `tutti train` itself understands, besides the options of the run. */
export const trainFlags: readonly OptionDescription[] = [
  {
    path: 'config',
    flag: '--config',
    type: 'string',
    unit: 'file.json',
    help: 'Read options from a JSON file; those given here win.',
  },
  { path: 'set', flag: '--set', type: 'string', unit: 'path=value', help: 'Set any option by its path. Repeatable.' },
  { path: 'name', flag: '--name', type: 'string', unit: 'text', help: "Name of the run; by default the project's." },
  {
    path: 'out',
    flag: '--out',
    type: 'string',
    unit: 'folder',
    help: "The run's folder; by default a new one in Tutti's home.",
  },
  {
    path: 'json',
    flag: '--json',
    type: 'boolean',
    help: 'Print one JSON object per line, and nothing else, on stdout.',
  },
  { path: 'quiet', flag: '--quiet', type: 'boolean', help: 'Print no progress, only how the run ended.' },
  { path: 'help', flag: '--help', type: 'boolean', help: 'Show this.' },
];

export interface TrainArguments {
  /** What flags and `--set` say, in their order, as a layer of the configuration. */
  overrides: PlainObject;
  config?: string;
  name?: string;
  out?: string;
  json?: boolean;
  quiet?: boolean;
  help?: boolean;
}

/** Everything that can be set for a run of the project; without one, for any run. */
export function settingsOf(project: ProjectDescription | null): Setting[] {
  const options = project === null ? describeOptions(runConfigSchema) : optionsOf(project);
  // Hyperparameters have options of their own.
  const named = options.filter(({ path }) => path !== 'hyperparameters');
  return [...Map.groupBy(named, ({ path }) => path)].map(([path, variants]) => {
    const isHyperparameter = project?.hyperparameters.includes(variants[0]) ?? false;
    const target = isHyperparameter ? `hyperparameters.${path}` : path;
    return { path: target, flag: variants[0].flag, isHyperparameter, variants };
  });
}

/** Whether the setting has a flag; `--set` reaches those whose flag means something else to `tutti train`. */
export function hasFlag({ flag }: Setting): boolean {
  return trainFlags.every((own) => own.flag !== flag);
}

/**
 * Reads what follows the project on the command line of `tutti train`.
 * @throws UsageError for an option that does not exist, or a value that does not fit it
 */
export function parseTrainArguments(args: readonly string[], settings: readonly Setting[]): TrainArguments {
  const command = quietCommand('train');
  let overrides: PlainObject = {};
  const assign = (path: string, value: unknown): void => {
    overrides = setPath(overrides, path, value);
  };
  for (const { flag, type, path } of trainFlags) {
    if (path !== 'set' && path !== 'help') command.option(type === 'boolean' ? flag : `${flag} <value>`);
  }
  command.option('-h, --help');
  command.option('--set <assignment>').on('option:set', (assignment: string) => {
    const [path, value] = parseAssignment(assignment, settings);
    assign(path, value);
  });
  for (const setting of settings.filter(hasFlag)) {
    const option = new Option(`${setting.flag} ${setting.variants[0].type === 'boolean' ? '[value]' : '<value>'}`);
    command.addOption(option).on(`option:${option.name()}`, (text: string | null) => {
      assign(setting.path, readValue(setting, text ?? 'true'));
    });
  }
  parseQuietly(command, args, settings);
  const { config, name, out, json, quiet, help } = command.opts<TrainArguments>();
  return { overrides, config, name, out, json, quiet, help };
}

/** `--set` assignments as a layer of the configuration. @throws UsageError */
export function parseAssignments(assignments: readonly string[], settings: readonly Setting[]): PlainObject {
  return assignments.reduce<PlainObject>((so, assignment) => {
    const [path, value] = parseAssignment(assignment, settings);
    return setPath(so, path, value);
  }, {});
}

function parseAssignment(assignment: string, settings: readonly Setting[]): [path: string, value: unknown] {
  const equals = assignment.indexOf('=');
  if (equals < 1) {
    throw new UsageError(`--set "${assignment}": it must be path=value, such as --set optimizer.learningRate=0.01.`);
  }
  const name = assignment.slice(0, equals);
  const setting = findSetting(name, settings);
  if (setting === undefined) throw new UsageError(unknownOptionMessage(name, descriptionsOf(settings)));
  return [setting.path, readValue(setting, assignment.slice(equals + 1))];
}

/** By its path; a hyperparameter also by its bare name, a union (`optimizer`) for its kind. */
function findSetting(name: string, settings: readonly Setting[]): Setting | undefined {
  const names = [name, `hyperparameters.${name}`, `${name}.kind`];
  return names.flatMap((path) => settings.find((setting) => setting.path === path) ?? []).at(0);
}

/** A value that fits the option of one kind fits: which kind it is to be is known once the whole configuration is. */
function readValue({ variants }: Setting, text: string): unknown {
  let problem: unknown;
  for (const description of variants) {
    try {
      return parseOptionValue(description, text);
    } catch (error) {
      problem ??= error;
    }
  }
  throw toUsageError(problem);
}

/** A command that throws what is wrong rather than printing it. Unknown options are left to us, who know better names. */
function quietCommand(name: string): Command {
  return new Command(name)
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
}

function parseQuietly(command: Command, args: readonly string[], settings: readonly Setting[]): void {
  try {
    command.parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    throw new UsageError(error.message.replace(/^error: /, ''), { cause: error });
  }
  const [stray] = command.args;
  if (stray === undefined) return;
  if (!stray.startsWith('-')) throw new UsageError(`"${stray}" belongs to no option. Options look like --members 4.`);
  const [flag] = stray.split('=');
  throw new UsageError(unknownOptionMessage(flag, [...descriptionsOf(settings), ...trainFlags]));
}

function descriptionsOf(settings: readonly Setting[]): OptionDescription[] {
  return settings.flatMap(({ variants }) => variants);
}
