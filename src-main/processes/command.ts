import { execFile } from 'node:child_process';
import { errorCode, explainSystemError } from '../../core/node/file-error.ts';
import { messageOf } from '../../core/text/errors.ts';

/**
 * The outcome of an external command. Vendor tools are often missing, broken or slow, and each case needs its own note.
 */
export type CommandResult =
  | { status: 'absent' }
  | { status: 'timed-out'; timeoutMs: number }
  /**
   * It exists but cannot be started or read: it is not executable, a folder of the PATH is closed, it printed without
   * end.
   */
  | { status: 'unusable'; reason: string }
  | { status: 'exited'; exitCode: number; stdout: string; stderr: string };

export type CommandRunner = (command: string, args: readonly string[]) => Promise<CommandResult>;

/** Codes of the system for a program that no folder of the PATH holds. A PATH may name files (ENOTDIR). */
const absences: ReadonlySet<string | null> = new Set(['ENOENT', 'ENOTDIR']);

/**
 * A runner that starts programs without a shell and kills them after `timeoutMs`. It resolves to the outcome and never
 * rejects.
 */
export function commandRunner(timeoutMs: number): CommandRunner {
  const options = { timeout: timeoutMs, killSignal: 'SIGKILL', windowsHide: true } as const;
  return (command, args) =>
    new Promise((resolve) => {
      const fail = (error: unknown): void => {
        if (absences.has(errorCode(error))) resolve({ status: 'absent' });
        else resolve({ status: 'unusable', reason: messageOf(explainSystemError(error)) });
      };
      try {
        execFile(command, args, options, (error, stdout, stderr) => {
          if (error === null) resolve({ status: 'exited', exitCode: 0, stdout, stderr });
          else if (error.killed) resolve({ status: 'timed-out', timeoutMs });
          else if (typeof error.code === 'number') resolve({ status: 'exited', exitCode: error.code, stdout, stderr });
          else fail(error);
        });
      } catch (error) {
        // Node throws some codes of a failed start at once, and reports the others later.
        fail(error);
      }
    });
}

/** One line on why a command gave no answer. */
export function explainFailure(command: string, result: CommandResult): string {
  if (result.status === 'absent') return `${command} was not found.`;
  if (result.status === 'timed-out') return `${command} did not answer within ${result.timeoutMs} ms.`;
  if (result.status === 'unusable') return `${command} could not be run: ${result.reason}.`;
  const words = firstLine(result.stderr) || firstLine(result.stdout) || 'it said nothing';
  return `${command} failed with exit code ${result.exitCode}: ${words}`;
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0].trim();
}
