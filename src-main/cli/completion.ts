import type { Command } from 'commander';
import { printableLine } from '../../core/text/printable.ts';
import { RunIndex } from '../store/index/run-index.ts';
import { exitCodes, UsageError } from './errors.ts';
import { describeOptions, type OptionDescription } from '../../core/options/index.ts';
import { runConfigSchema } from '../../core/protocol/run/config.ts';
import { runStatusSchema } from '../../core/protocol/run/record.ts';
import { trainFlags } from '../runs/configuration/run-flags.ts';

/** What may stand at the place of the last word. */
interface Candidate {
  text: string;
  help: string;
}

/** Stands for the files and folders that the shell finds. */
const filesCandidate: Candidate = { text: ':files', help: '' };

/** The runs of this user, as candidates; read only where a run is expected. */
type RunCandidates = () => Promise<Candidate[]>;

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

/** The shells that `tutti completion` serves, with what their users put into a start file. */
const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/**
 * The script that connects a shell with `tutti complete <words>`, which prints one candidate a line, after a tab its
 * description. A line `:files` asks the shell for files and folders.
 */
export const completionScripts: Readonly<Record<Shell, string>> = {
  bash: `# Completion of tutti for bash. In ~/.bashrc: source <(tutti completion bash)
_tutti() {
  local line candidates=() files=0
  local IFS=$'\\n'
  for line in $("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); do
    if [ "$line" = ':files' ]; then files=1; else candidates+=("\${line%%$'\\t'*}"); fi
  done
  COMPREPLY=($(compgen -W "\${candidates[*]}" -- "\${COMP_WORDS[COMP_CWORD]}"))
  if [ $files = 1 ]; then
    COMPREPLY+=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
    compopt -o filenames
  fi
}
complete -F _tutti tutti
`,
  zsh: `#compdef tutti
# Completion of tutti for zsh. In ~/.zshrc, after compinit: source <(tutti completion zsh)
_tutti() {
  local line files=0
  local -a candidates
  for line in "\${(@f)$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -z $line ]] && continue
    if [[ $line == ':files' ]]; then files=1; continue; fi
    candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  (( \${#candidates} )) && _describe tutti candidates
  (( files )) && _files
  return 0
}
compdef _tutti tutti
`,
  fish: `# Completion of tutti for fish. Once: tutti completion fish > ~/.config/fish/completions/tutti.fish
function __tutti_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] complete -- $words[2..-1] 2>/dev/null)
        if test "$line" = ':files'
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c tutti -f -a '(__tutti_complete)'
`,
};

/** More would fill the terminal. */
const offeredRuns = 100;

/** `tutti completion <shell>`. @returns the exit code */
export async function printCompletion(shell: string): Promise<number> {
  const known = shells.find((name) => name === shell);
  if (known === undefined) throw new UsageError(`"${shell}" is not known: the shells are ${shells.join(', ')}.`);
  process.stdout.write(completionScripts[known satisfies Shell]);
  return exitCodes.finished;
}

/** `tutti complete <words>`, which the scripts call: prints the candidates for the last word. @returns the exit code */
export async function complete(program: Command, words: readonly string[]): Promise<number> {
  const typed = words[0] === '--' ? words.slice(1) : words;
  const candidates = await candidatesFor(program, typed, listRuns);
  process.stdout.write(candidates.map(({ text, help }) => `${text}\t${printableLine(help)}`.trim() + '\n').join(''));
  return exitCodes.finished;
}

/** Reads the index alone: looking at all folders would take too long for a key press. */
async function listRuns(): Promise<Candidate[]> {
  const index = await RunIndex.open();
  try {
    return index.list({ limit: offeredRuns }).map(({ id, name, status }) => ({ text: id, help: `${name}, ${status}` }));
  } finally {
    index.close();
  }
}
