import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command, CommanderError, Option } from 'commander';
import {
  type OptionDescription,
  parseOptionValue,
  type PlainObject,
  setPath,
  unknownOptionMessage,
} from '../../core/options/index.ts';
import {
  flagAliases,
  hasFlag,
  type RunFlag,
  runFlagsOf,
  shortFlagOf,
  trainFlags,
} from '../runs/configuration/run-flags.ts';
import { orUsageError, toUsageError, UsageError } from './errors.ts';
import { withHub } from './open-hub.ts';

/** Changes to the configuration of an earlier run. */
export interface ChangeOptions {
  set: string[];
  maxEpochs?: string;
  /** Another name of `maxEpochs`. */
  epochs?: string;
}

export interface TrainArguments {
  /** The values of flags and `--set`, in their order, as a layer of the configuration. */
  overrides: PlainObject;
  config?: string;
  name?: string;
  out?: string;
  /** Number of runs that differ in their seeds; absent: one run. */
  repeat?: number;
  /** How many of them train at a time. */
  parallel?: number;
  json?: boolean;
  quiet?: boolean;
  detach?: boolean;
  /** Nodes of a job of SLURM: `4`, `2:4`. */
  nodes?: string;
  /** Further options of `sbatch`. */
  sbatch?: string;
  /** Whether the job's script is only printed. */
  dryRun?: boolean;
  /** Whether it waits until no other run trains. */
  queue?: boolean;
  /** What help is asked for: `all`, a group or a word; true: the usual options. */
  help?: string | true;
}

/**
 * Parses the arguments after the project on the command line of `tutti train`.
 * @throws UsageError for an unknown option or an invalid value
 */
export function parseTrainArguments(args: readonly string[], flags: readonly RunFlag[]): TrainArguments {
  const command = quietCommand('train');
  let overrides: PlainObject = {};
  const assign = (path: string, value: unknown): void => {
    overrides = setPath(overrides, path, value);
  };
  for (const description of trainFlags) {
    const { type, path } = description;
    if (path !== 'set' && path !== 'help') command.option(spell(description) + (type === 'boolean' ? '' : ' <value>'));
  }
  command.option('-h, --help [topic]');
  command.option('--set <assignment>').on('option:set', (assignment: string) => {
    const [path, value] = parseAssignment(assignment, flags);
    assign(path, value);
  });
  for (const runFlag of flags.filter(hasFlag)) {
    const value = runFlag.variants[0].type === 'boolean' ? '[value]' : '<value>';
    for (const spelled of [spell(runFlag), ...aliasesOf(runFlag, flags)]) {
      const option = new Option(`${spelled} ${value}`);
      command.addOption(option).on(`option:${option.name()}`, (text: string | null) => {
        assign(runFlag.path, readValue(runFlag, text ?? 'true'));
      });
    }
  }
  parse(command, args, flags);
  const { repeat, parallel, ...others } = command.opts<TrainTexts>();
  return {
    overrides,
    ...flagsOf(others),
    ...(repeat !== undefined && { repeat: parseCount('--repeat', repeat) }),
    ...(parallel !== undefined && { parallel: parseCount('--parallel', parallel) }),
  };
}

/** Tutti's own options, without those of the project, which the command has too. */
function flagsOf(texts: Omit<TrainTexts, 'repeat' | 'parallel'>) {
  const { config, name, out, json, quiet, detach, queue, nodes, sbatch, dryRun, help } = texts;
  return { config, name, out, json, quiet, detach, queue, nodes, sbatch, dryRun, help };
}

/** The options as the command line gives them. */
type TrainTexts = Omit<TrainArguments, 'overrides' | 'repeat' | 'parallel'> & { repeat?: string; parallel?: string };

/** The value of an option that is a number of things. @throws UsageError */
export function parseCount(option: string, text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new UsageError(`${option} "${text}": it must be a whole number of at least 1.`);
}

/** `-m, --members`, or the flag alone if it has no short form. */
function spell(option: Pick<RunFlag, 'path' | 'flag'>): string {
  const short = shortFlagOf(option);
  return short === null ? option.flag : `${short}, ${option.flag}`;
}

/** Other names of an option that no option of the project has. */
function aliasesOf({ path }: RunFlag, flags: readonly RunFlag[]): string[] {
  const aliases = Object.keys(flagAliases).filter((alias) => flagAliases[alias] === path);
  return aliases.filter((alias) => flags.every(({ flag }) => flag !== alias));
}

/** The changes that `tutti resume` and `tutti fork` ask for by `--set` and `--max-epochs`. @throws UsageError */
export function parseOverrides({ set, maxEpochs, epochs = maxEpochs }: ChangeOptions): PlainObject {
  const flags = runFlagsOf(null);
  if (epochs === undefined) return parseAssignments(set, flags);
  if (maxEpochs !== undefined && maxEpochs !== epochs)
    throw new UsageError('--epochs is another name of --max-epochs: give one.');
  return parseAssignments([...set, `maxEpochs=${epochs}`], flags);
}

/** `--set` assignments as a layer of the configuration. @throws UsageError */
export function parseAssignments(assignments: readonly string[], flags: readonly RunFlag[]): PlainObject {
  return assignments.reduce<PlainObject>((layer, assignment) => {
    const [path, value] = parseAssignment(assignment, flags);
    return setPath(layer, path, value);
  }, {});
}

/** The value of `--rank`. @throws UsageError */
export function parseRank(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new UsageError(`--rank "${text}": it must be a whole number of at least 0.`);
  return Number(text);
}

function parseAssignment(assignment: string, flags: readonly RunFlag[]): [path: string, value: unknown] {
  const equals = assignment.indexOf('=');
  if (equals < 1) {
    throw new UsageError(`--set "${assignment}": it must be path=value, such as --set optimizer.learningRate=0.01.`);
  }
  const name = assignment.slice(0, equals);
  const runFlag = findFlag(name, flags);
  if (runFlag === undefined) throw new UsageError(unknownOptionMessage(name, descriptionsOf(flags)));
  return [runFlag.path, readValue(runFlag, assignment.slice(equals + 1))];
}

/**
 * Finds an option by its path. A hyperparameter may be given by its bare name, and a union (`optimizer`) means its
 * kind.
 */
function findFlag(name: string, flags: readonly RunFlag[]): RunFlag | undefined {
  const names = [name, `hyperparameters.${name}`, `${name}.kind`];
  return names.flatMap((path) => flags.find((runFlag) => runFlag.path === path) ?? []).at(0);
}

/** Parses a value. It only has to fit one variant: the kind that applies is known once the whole configuration is. */
function readValue({ variants }: RunFlag, text: string): unknown {
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

/**
 * A command that throws errors instead of printing them. It lets unknown options pass, because we can suggest similar
 * names.
 */
function quietCommand(name: string): Command {
  return new Command(name)
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
}

function parse(command: Command, args: readonly string[], flags: readonly RunFlag[]): void {
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
  throw new UsageError(unknownOptionMessage(flag, [...descriptionsOf(flags), ...trainFlags]));
}

function descriptionsOf(flags: readonly RunFlag[]): OptionDescription[] {
  return flags.flatMap(({ variants }) => variants);
}

/** The folder of an exported ensemble, or of a run that is named by its id, name or folder. */
export async function ensembleFolder(run: string): Promise<string> {
  const folder = resolve(run);
  if (existsSync(join(folder, 'ensemble.json'))) return folder;
  return withHub(async (hub) => (await orUsageError(hub.find(run))).folder);
}
