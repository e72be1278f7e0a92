import { tutti } from '../../../../core/text/program.ts';
import { submit } from '../../../nodes/slurm-commands.ts';
import { studyScript } from '../../../nodes/job-script.ts';
import type { Study } from '../../../../core/protocol/studies/study.ts';
import type { StudyStore } from '../../../studies/study-store.ts';
import { parseCount } from '../../arguments.ts';
import { exitCodes, orUsageError, UsageError } from '../../errors.ts';
import { ownCommand, wordsOf } from '../training/train-in-job.ts';
import type { SearchOptions } from './search-options.ts';

/** The number of tasks that work on a study; null where this process does. @throws UsageError */
export function arrayOf({ array, sbatch, dryRun }: SearchOptions): number | null {
  if (array !== undefined) return parseCount('--array', array);
  if (dryRun || sbatch !== undefined)
    throw new UsageError('--dry-run and --sbatch belong to --array, which submits an array of jobs.');
  return null;
}

/** Trials at a time that a new study has for its array: one worker a task, unless the user says so. */
export function parallelOf(tasks: number, { parallel, trialsPerWorker = '1' }: SearchOptions): string {
  return parallel ?? String(tasks * parseCount('--trials-per-worker', trialsPerWorker));
}

/** Checks that each task of an array would have work. @throws UsageError */
export function requireTasks(
  tasks: number,
  { parallel, trialsPerWorker }: Pick<Study, 'parallel' | 'trialsPerWorker'>,
): void {
  const most = Math.floor(parallel / trialsPerWorker);
  if (tasks <= most) return;
  throw new UsageError(
    `With ${parallel} trials under way at a time, ${trialsPerWorker} in a worker, at most ${most} tasks would have ` +
      `work. Use --array ${most}, or a new study with a larger --parallel.`,
  );
}

/** Submits an array of jobs whose tasks share the trials of a study. @returns the exit code */
export async function searchInArray(
  { study, folder }: StudyStore,
  tasks: number,
  { sbatch = '', dryRun = false, json = false }: SearchOptions,
): Promise<number> {
  const { id, name, parallel, trialsPerWorker } = study;
  const here = Math.floor(parallel / trialsPerWorker / tasks) * trialsPerWorker;
  const script = studyScript({
    name: `tutti-${name.replaceAll(/[^\w.-]+/g, '-')}`,
    tasks,
    folder,
    tutti: ownCommand(),
    search: ['search', '--study', id, '--parallel-here', String(here)],
    options: wordsOf(sbatch),
  });
  if (dryRun) process.stdout.write(script);
  else {
    const job = await orUsageError(submit(script));
    const text =
      `Job ${job} works on the study ${id} with ${tasks} ${tasks === 1 ? 'task' : 'tasks'}. To see it: ${tutti} ` +
      `studies ${id}`;
    process.stdout.write(json ? `${JSON.stringify({ type: 'submitted', job, study: id, folder })}\n` : `${text}\n`);
  }
  return exitCodes.finished;
}
