import type { Command } from 'commander';
import { describeOptions, type OptionDescription } from '../../core/options/index.ts';
import { runConfigSchema } from '../../core/protocol/run/config.ts';
import { runStatusSchema } from '../../core/protocol/run/record.ts';
import { trainFlags } from '../runs/configuration/run-flags.ts';

/** What may stand at the place of the last word. */
export interface Candidate {
  text: string;
  help: string;
}

/** Stands for the files and folders that the shell finds. */
export const filesCandidate: Candidate = { text: ':files', help: '' };

/** The runs of this user, as candidates; read only where a run is expected. */
export type RunCandidates = () => Promise<Candidate[]>;

/** Values of options that are not options of a run. */
const knownValues: Readonly<Record<string, readonly string[]>> = {
  '--status': runStatusSchema.options,
  '--template': ['blank', 'tabular', 'images', 'text'],
};
const fileOptions = new Set(['--config', '--out', '--to', '-c', '-o']);

/**
 * The candidates for the last of the words after `tutti`, which may be empty or the beginning of a word.
 * @param words the words so far; the last one is being typed
 */
export async function candidatesFor(
  program: Command,
  words: readonly string[],
  runs: RunCandidates,
): Promise<Candidate[]> {
  const [name = '', ...rest] = words;
  if (rest.length === 0) return commandsOf(program);
  const command = program.commands.find((known) => known.name() === name);
  if (command === undefined) return [];
  const previous = rest.at(-2) ?? '';
  const current = rest.at(-1) ?? '';
  const flags = flagsOf(command);
  const values = valuesAfter(previous, flags);
  if (values !== null) return values;
  if (current.startsWith('-')) return flags.map(({ flag, help }) => ({ text: flag, help }));
  return argumentsOf(command, rest, runs);
}

function commandsOf(program: Command): Candidate[] {
  return program
    .createHelp()
    .visibleCommands(program)
    .map((command) => ({ text: command.name(), help: command.description() }));
}

type Flag = Pick<OptionDescription, 'flag' | 'type' | 'help' | 'choices'>;

/** The options of `train` are those of a run: a project's hyperparameters are not known without running its code. */
function flagsOf(command: Command): Flag[] {
  if (command.name() === 'train') return [...describeOptions(runConfigSchema).filter(isFlag), ...trainFlags];
  const options = command.createHelp().visibleOptions(command);
  return options.map((option) => ({
    flag: option.long ?? option.flags,
    type: option.required || option.optional ? 'string' : 'boolean',
    help: option.description,
  }));
}

function isFlag({ path }: OptionDescription): boolean {
  return path !== 'hyperparameters';
}

/** The candidates for the value of an option; null if the word before expects none. */
function valuesAfter(previous: string, flags: readonly Flag[]): Candidate[] | null {
  if (fileOptions.has(previous)) return [filesCandidate];
  const known = knownValues[previous];
  if (known !== undefined) return known.map((text) => ({ text, help: '' }));
  const flag = flags.find((candidate) => candidate.flag === previous);
  if (flag === undefined || flag.type === 'boolean') return null;
  return (flag.choices ?? []).map(({ value, help }) => ({ text: value, help }));
}

async function argumentsOf(command: Command, rest: readonly string[], runs: RunCandidates): Promise<Candidate[]> {
  if (command.name() === 'completion') return ['bash', 'zsh', 'fish'].map((text) => ({ text, help: '' }));
  const [first, ...others] = command.registeredArguments;
  if (first === undefined || (rest.length > 1 && !first.variadic && others.length === 0)) return [];
  const takesRun = ['run', 'runs'].includes(first.name()) && (rest.length === 1 || first.variadic);
  if (takesRun) return runs();
  return rest.length === 1 ? [filesCandidate] : [];
}
