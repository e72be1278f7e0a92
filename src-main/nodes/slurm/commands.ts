import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { errorCode } from '../../../core/node/file-error.ts';

/** Submits a script. @returns the number of the job @throws Error with what `sbatch` said */
export async function submit(script: string): Promise<string> {
  const output = await runSlurm('sbatch', ['--parsable'], script);
  return output.trim().split(';')[0];
}

/** Lets a job start again from its script. @throws Error with what `scontrol` said */
export async function requeue(job: string): Promise<void> {
  await runSlurm('scontrol', ['requeue', job], '');
}

async function runSlurm(command: string, args: readonly string[], input: string): Promise<string> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
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
