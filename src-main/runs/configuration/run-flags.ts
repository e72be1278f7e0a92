import { describeOptions, type OptionDescription } from '../../../core/options/index.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import { optionsOf } from './resolve-config.ts';

/** An option of a run that can be set from the terminal. */
export interface RunFlag {
  /** Path of its value in the run configuration. */
  path: string;
  flag: string;
  isHyperparameter: boolean;
  /** One description, or several if kinds of a union describe the option differently. */
  variants: OptionDescription[];
}

/** Flags of `tutti train` itself, beside the options of the run. */
export const trainFlags: readonly OptionDescription[] = [
  {
    path: 'config',
    flag: '--config',
    type: 'string',
    unit: 'file.json',
    help: 'Read options from a JSON file; options on the command line override them.',
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
    path: 'repeat',
    flag: '--repeat',
    type: 'integer',
    unit: 'runs',
    help:
      'Train so many runs that differ only in their seeds (seed, seed + 256, ...), and print means with standard ' +
      'errors. `tutti resume` continues them; `--out` is then the folder of their folders.',
  },
  {
    path: 'parallel',
    flag: '--parallel',
    type: 'integer',
    unit: 'runs',
    help: 'With --repeat: runs that train at a time, which share the devices. By default 1.',
  },
  {
    path: 'json',
    flag: '--json',
    type: 'boolean',
    help: 'Print one JSON object per line, and nothing else, on stdout.',
  },
  {
    path: 'trust',
    flag: '--trust',
    type: 'boolean',
    help: "Trust the project's folder from now on, and allow what the project asks for, without a question.",
  },
  {
    path: 'detach',
    flag: '--detach',
    type: 'boolean',
    help: 'Train without this terminal: return once all ranks are ready. `tutti attach` follows the run.',
  },
  {
    path: 'queue',
    flag: '--queue',
    type: 'boolean',
    help:
      'Do not train now: wait until no other run trains. The dashboard starts waiting runs; `tutti queue` lists ' +
      'them.',
  },
  {
    path: 'nodes',
    flag: '--nodes',
    type: 'string',
    unit: 'nodes',
    help:
      'Submit the run as a job of SLURM on so many nodes, or on at least and at most so many (2:4): it then ' +
      'continues with fewer after a loss, and begins once the least are there and 30 s, or as many as you say ' +
      '(2:4:60), have passed. In a job, the numbers of nodes with which it trains.',
  },
  {
    path: 'sbatch',
    flag: '--sbatch',
    type: 'string',
    unit: 'options',
    help: 'With --nodes: further options of sbatch, such as "--partition=gpu --gpus-per-node=4 --time=8:00:00".',
  },
  {
    path: 'dryRun',
    flag: '--dry-run',
    type: 'boolean',
    help: 'With --nodes: print the script instead of submitting it.',
  },
  { path: 'quiet', flag: '--quiet', type: 'boolean', help: 'Print no progress, only how the run ended.' },
  {
    path: 'help',
    flag: '--help',
    type: 'boolean',
    help: 'Show this help; with all, the name of a group such as optimizer, or a word: others.',
  },
];

/** The paths of the options that people use most, which help shows first. */
export const usualOptions: ReadonlySet<string> = new Set([
  'config',
  'set',
  'name',
  'out',
  'repeat',
  'detach',
  'trust',
  'json',
  'quiet',
  'help',
  'members',
  'maxEpochs',
  'batchSize',
  'optimizer.kind',
  'optimizer.learningRate',
  'schedule.kind',
  'seed',
  'devices',
  'membersPerDevice',
  'backend',
  'determinism',
  'strategy.kind',
  'evaluateEveryEpochs',
  'earlyStopping.enabled',
  'earlyStopping.patience',
]);

/** Short forms of the options that are typed most, by path. */
const shortFlags: Readonly<Record<string, string>> = {
  members: '-m',
  maxEpochs: '-e',
  batchSize: '-b',
  'optimizer.learningRate': '-l',
  seed: '-s',
  config: '-c',
  name: '-n',
  out: '-o',
  detach: '-d',
  quiet: '-q',
  json: '-j',
  help: '-h',
};

/**
 * Names that other tools give these options, which are understood unless a hyperparameter of the project has the name.
 */
export const flagAliases: Readonly<Record<string, string>> = {
  '--epochs': 'maxEpochs',
  '--batch': 'batchSize',
  '--lr': 'optimizer.learningRate',
  '--learning-rate': 'optimizer.learningRate',
};

/** The short form of an option, `-m`; null if it has none. */
export function shortFlagOf({ path }: Pick<OptionDescription, 'path'>): string | null {
  return shortFlags[path] ?? null;
}

/** All options that can be set for a run of the project; without a project, for any run. */
export function runFlagsOf(project: ProjectDescription | null): RunFlag[] {
  const options = project === null ? describeOptions(runConfigSchema) : optionsOf(project);
  // Each hyperparameter is an option by itself.
  const named = options.filter(({ path }) => path !== 'hyperparameters');
  return [...Map.groupBy(named, ({ path }) => path)].map(([path, variants]) => {
    const isHyperparameter = project?.hyperparameters.includes(variants[0]) ?? false;
    const target = isHyperparameter ? `hyperparameters.${path}` : path;
    return { path: target, flag: variants[0].flag, isHyperparameter, variants };
  });
}

/** Whether the option has a flag. An option whose flag already has a meaning for `tutti train` is set with `--set`. */
export function hasFlag({ flag }: RunFlag): boolean {
  return trainFlags.every((own) => own.flag !== flag);
}
