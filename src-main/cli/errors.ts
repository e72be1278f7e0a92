import { CommanderError } from 'commander';
import { messageOf } from '../../core/text/errors.ts';
import { exitCodes } from './exit-codes.ts';

/** The user asked for something that cannot be: the message says what, and what to do. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Waits for something whose failure means that what the user asked for cannot be. */
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

/** Tells an error on stderr, with stacks where TUTTI_DEBUG is set. @returns the exit code */
export function reportError(error: unknown): number {
  // Commander has told its own errors, and its help, already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.finished : exitCodes.usage;
  console.error(`error: ${messageOf(error)}`);
  if (process.env.TUTTI_DEBUG) console.error(error);
  return error instanceof UsageError ? exitCodes.usage : exitCodes.failed;
}
