import type { Command } from 'commander';
import { printableLine } from '../../core/text/printable.ts';
import { RunIndex } from '../store/index/run-index.ts';
import { exitCodes, UsageError } from './errors.ts';
import { type Candidate, candidatesFor } from './candidates.ts';

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
