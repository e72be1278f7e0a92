import { execFile } from 'node:child_process';

/** The outcome of an external command. Vendor tools are often missing, broken or slow, and each case needs its own note. */
export type CommandResult =
  | { status: 'absent' }
  | { status: 'timed-out'; timeoutMs: number }
  | { status: 'exited'; exitCode: number; stdout: string; stderr: string };

export type CommandRunner = (command: string, args: readonly string[]) => Promise<CommandResult>;

/**
 * A runner that starts programs without a shell and kills them after `timeoutMs`. It resolves to the outcome, and rejects only if the
 * program exists but could not be started.
 */
export function commandRunner(timeoutMs: number): CommandRunner {
  const options = { timeout: timeoutMs, killSignal: 'SIGKILL', windowsHide: true } as const;
  return (command, args) =>
    new Promise((resolve, reject) => {
      execFile(command, args, options, (error, stdout, stderr) => {
        if (error === null) resolve({ status: 'exited', exitCode: 0, stdout, stderr });
        else if (error.code === 'ENOENT') resolve({ status: 'absent' });
        else if (error.killed) resolve({ status: 'timed-out', timeoutMs });
        else if (typeof error.code === 'number') resolve({ status: 'exited', exitCode: error.code, stdout, stderr });
        else reject(new Error(`${command} could not be run: ${error.message}`, { cause: error }));
      });
    });
}

/** One line on why a command gave no answer. */
export function explainFailure(command: string, result: CommandResult): string {
  if (result.status === 'absent') return `${command} was not found.`;
  if (result.status === 'timed-out') return `${command} did not answer within ${result.timeoutMs} ms.`;
  const words = firstLine(result.stderr) || firstLine(result.stdout) || 'it said nothing';
  return `${command} failed with exit code ${result.exitCode}: ${words}`;
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0].trim();
}
