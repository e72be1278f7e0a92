import { CommanderError } from 'commander';
import type { RunStatus } from '../../core/protocol/run/record.ts';
import { explainSystemError } from '../../core/node/file-error.ts';
import { messageOf } from '../../core/text/errors.ts';
import { spellCommands } from '../../core/text/program.ts';
import { lookOf } from './look.ts';

/** Exit codes of the `tutti` command; `tutti --help` lists them. */
export const exitCodes = {
  /** The run finished, also by early stopping. */
  finished: 0,
  /** The run or the command failed. */
  failed: 1,
  /** Wrong arguments or a wrong configuration: nothing was started. */
  usage: 2,
  /** The run was stopped early, but not by one of the signals below: from another terminal or a page. */
  stopped: 3,
  hungUp: 129,
  interrupted: 130,
  quit: 131,
  terminated: 143,
} as const;

/** Signals that end a run, with the exit code of the command: 128 plus the signal's number. */
export const signalExitCodes = {
  SIGHUP: exitCodes.hungUp,
  SIGINT: exitCodes.interrupted,
  SIGQUIT: exitCodes.quit,
  SIGTERM: exitCodes.terminated,
} as const;
export type EndingSignal = keyof typeof signalExitCodes;

/** The exit code of a command that ran a run. A run that had finished before the signal came counts as finished. */
export function exitCodeOf(status: RunStatus, signal: EndingSignal | null): number {
  if (status === 'finished') return exitCodes.finished;
  if (status === 'failed') return exitCodes.failed;
  return signal === null ? exitCodes.stopped : signalExitCodes[signal];
}

/** The user's request is wrong. The message says what is wrong and what to do instead. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Awaits a result whose failure is the fault of the user's request. @throws UsageError */
export async function orUsageError<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    throw toUsageError(error);
  }
}

/** The same error as a {@link UsageError}, with the original as its cause. */
export function toUsageError(error: unknown): UsageError {
  return new UsageError(messageOf(error), { cause: error });
}

/** Prints a message on stderr. */
export function printError(message: string): void {
  console.error(`${lookOf(process.stderr).paint('red', 'error:')} ${spellCommands(message)}`);
}

/**
 * Ends the process with a message, and not with a stack, where nothing handles an error: a socket or a process that
 * cannot be opened any more.
 */
export function reportUncaught(): void {
  process.on('uncaughtException', (error) => process.exit(reportError(error)));
}

/** Prints an error on stderr, with stacks if TUTTI_DEBUG is set. @returns the exit code */
export function reportError(error: unknown): number {
  // Commander has already printed its own errors and its help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.finished : exitCodes.usage;
  printError(messageOf(explainSystemError(error)));
  if (process.env.TUTTI_DEBUG) console.error(error);
  return error instanceof UsageError ? exitCodes.usage : exitCodes.failed;
}
