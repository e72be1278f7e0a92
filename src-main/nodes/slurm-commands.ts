import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { errorCode } from '../../core/node/file-error.ts';
import { startChild } from '../processes/node-process.ts';

/** Submits a script. @returns the number of the job @throws Error with what `sbatch` said */
export async function submit(script: string): Promise<string> {
  const output = await runSlurm('sbatch', ['--parsable'], script);
  return output.trim().split(';')[0];
}

/** Lets a job start again from its script. @throws Error with what `scontrol` said */
export async function requeue(job: string): Promise<void> {
  await runSlurm('scontrol', ['requeue', job], '');
}

/**
 * When the time limit of a job ends it; null where it has none, or SLURM does not tell. Jobs of SLURM before 23.02 have
 * no variable with it.
 */
export async function endOfJob(job: string): Promise<Date | null> {
  const left = await runSlurm('squeue', ['--noheader', '--jobs', job, '--format', '%L'], '').catch(() => '');
  const seconds = parseTimeLeft(left.trim());
  return seconds === null ? null : new Date(Date.now() + seconds * 1_000);
}

/** SLURM's `1-02:03:04`, `2:03:04`, `3:04` in seconds; null for `UNLIMITED` and what is no time. */
export function parseTimeLeft(text: string): number | null {
  const found = /^(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+)$/.exec(text);
  if (found === null) return null;
  const [days, hours, minutes, seconds] = found.slice(1).map((part) => Number(part ?? 0));
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}

async function runSlurm(command: string, args: readonly string[], input: string): Promise<string> {
  const child = startChild(command, () => spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] }));
  // It may end before it has read its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  try {
    const [output, complaint, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    if (code === 0) return output;
    throw new Error(`${command} ${args.join(' ')} failed with exit code ${code}: ${complaint.trim()}`);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw new Error(
      `${command} was not found. Run this where SLURM is installed, or print the script with --dry-run.`,
      { cause: error },
    );
  }
}
