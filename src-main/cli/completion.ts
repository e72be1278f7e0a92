import type { Command } from 'commander';
import { printableLine } from '../../core/text/printable.ts';
import { RunIndex } from '../store/index/run-index.ts';
import { exitCodes, UsageError } from './errors.ts';
import { type Candidate, candidatesFor } from './candidates.ts';
import { completionScripts, type Shell, shells } from './completion-scripts.ts';

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
