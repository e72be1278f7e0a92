import { tutti } from '../../../../core/text/program.ts';
import { readUserText } from '../../../../core/node/read-lines.ts';
import { importJournal } from '../../../studies/journal.ts';
import {
  describeSpentSpace,
  importanceOf,
  summarize,
  viewTrial,
} from '../../../../core/protocol/pages/study-summary.ts';
import { toJson } from '../../../../core/protocol/wire/numbers.ts';
import { KeyPress } from '../../../processes/terminal.ts';
import { createStudy, driveStudy } from '../../../studies/studies.ts';
import { findStudy } from '../../../studies/study-folder.ts';
import { StudyStore } from '../../../studies/study-store.ts';
import type { StudyDriver } from '../../../studies/work/driver.ts';
import type { Hub } from '../../../hub/hub.ts';
import { parseCount } from '../../arguments.ts';
import { consentOf, ensureAllowed, ensureTrusted } from '../../consent.ts';
import { exitCodes, orUsageError, printError, UsageError } from '../../errors.ts';
import { withHub } from '../../open-hub.ts';
import { requeueJob, slurmJob, TimeLimitWatch } from '../../slurm-job.ts';
import { describeBest, describeImportance, describeTrial } from './describe-study.ts';
import { objectivesOf, requestOf, type SearchOptions } from './search-options.ts';
import { submit } from '../../../nodes/slurm-commands.ts';
import { studyScript } from '../../../nodes/job-script.ts';
import type { Study } from '../../../../core/protocol/studies/study.ts';
import { ownCommand, wordsOf } from '../training/train-in-job.ts';

/** `tutti search <project>`, or `tutti search --study <study>` to go on. @returns the exit code */
export function search(projectFolder: string | undefined, options: SearchOptions): Promise<number> {
  return withHub(async (hub) => {
    const tasks = arrayOf(options);
    const asked = tasks === null ? options : { ...options, parallel: parallelOf(tasks, options) };
    // Parsed before there is a study: a wrong option must not leave one behind.
    const most = options.parallelHere === undefined ? Infinity : parseCount('--parallel-here', options.parallelHere);
    const store = await openStore(hub, projectFolder, asked, tasks);
    if (options.import !== undefined) return tellImported(store);
    return tasks === null ? work(hub, store, most, options) : searchInArray(store, tasks, options);
  });
}

/** Works on the study in this process. In a job of SLURM it stops before the time limit, and the job is requeued. */
async function work(hub: Hub, store: StudyStore, most: number, options: SearchOptions): Promise<number> {
  const project = await orUsageError(hub.describe(store.study.project.folder));
  const report = new SearchReport(store, options);
  report.begin();
  const driver = await driveStudy(hub, store, project, { most, onChange: () => report.changed() });
  const signals = stopOnSignals(driver);
  const job = await slurmJob();
  const say = (line: string): void => console.error(line);
  const limit = job === null ? null : new TimeLimitWatch(job, () => driver.stop(), say);
  try {
    const end = await driver.run();
    report.changed();
    report.end(end);
    if (job !== null && limit?.isNear === true && end === 'stopped') await requeueJob(job, say);
    if (end === 'stopped') return signals.exitCode ?? exitCodes.stopped;
    return store.log.trials.some(({ state }) => state === 'complete') ? exitCodes.finished : tellNoneComplete(store);
  } finally {
    limit?.release();
    signals.release();
  }
}

async function openStore(
  hub: Hub,
  projectFolder: string | undefined,
  options: SearchOptions,
  tasks: number | null,
): Promise<StudyStore> {
  const consent = consentOf(options.trust ?? false);
  if (options.study !== undefined) {
    if (projectFolder !== undefined) {
      throw new UsageError('--study continues a study, which has its project: leave out the project, or --study.');
    }
    const { folder, study } = await orUsageError(findStudy(options.study));
    if (tasks !== null) requireTasks(tasks, study);
    await orUsageError(ensureTrusted(study.project.folder, consent));
    const store = await StudyStore.open(folder);
    if (options.trials !== undefined) await raiseTrials(store, options.trials);
    return store;
  }
  if (projectFolder === undefined) {
    throw new UsageError(
      'Name a project, tutti search <project>, or a study to continue, tutti search --study <study>.',
    );
  }
  await orUsageError(ensureTrusted(projectFolder, consent));
  const project = await orUsageError(hub.describe(projectFolder));
  await orUsageError(ensureAllowed(projectFolder, project.permissions, consent));
  if (options.import !== undefined) {
    const journal = await orUsageError(readUserText(options.import, 'read the journal'));
    const objectives = options.objective.length === 0 ? null : objectivesOf(options.objective, project);
    return orUsageError(
      importJournal(hub, { projectFolder, journal, name: options.name ?? null, objectives }, project),
    );
  }
  const request = requestOf(projectFolder, project, options);
  const { parallel = 1, trialsPerWorker = 1 } = request;
  if (tasks !== null) requireTasks(tasks, { parallel, trialsPerWorker });
  return orUsageError(createStudy(hub, request, project));
}

/** A study that has ended without a single result is no success, whatever its trials ended with. */
function tellNoneComplete({ study, log }: StudyStore): number {
  const last = log.trials.findLast(({ error }) => error !== null);
  const [reason, remedy] =
    last === undefined
      ? ['', 'Let it try more']
      : [` Trial ${last.number}: ${last.error}`, 'Correct the project or the space, and let it try more'];
  printError(
    `No trial of the study ${study.id} is complete, so it has found nothing.${reason} ` +
      `${remedy}: tutti search --study ${study.id} --trials ${log.wanted * 2}`,
  );
  return exitCodes.failed;
}

function tellImported({ study, log }: StudyStore): number {
  process.stdout.write(
    `Study ${study.id} ("${study.name}") has ${log.trials.length} trials. Continue with: ${tutti} search ` +
      `--study ${study.id} --trials <n>\n`,
  );
  return exitCodes.finished;
}

/** `--trials` of a study that goes on is the number that it is to have. */
async function raiseTrials(store: StudyStore, text: string): Promise<void> {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new UsageError(`--trials "${text}": it must be a whole number of at least 1.`);
  }
  await store.append([{ type: 'trials', count }]);
}

/** Prints what happens in a study: a line for each trial that ends. */
class SearchReport {
  readonly #store: StudyStore;
  readonly #json: boolean;
  readonly #quiet: boolean;
  readonly #told = new Set<number>();

  constructor(store: StudyStore, { json = false, quiet = false }: SearchOptions) {
    this.#store = store;
    this.#json = json;
    this.#quiet = quiet;
    for (const { number, endedAt } of store.log.trials) if (endedAt !== null) this.#told.add(number);
  }

  begin(): void {
    const { study } = this.#store;
    if (this.#json) this.#print(toJson({ type: 'study', study, folder: this.#store.folder }));
    else
      console.error(
        `Study ${study.id} ("${study.name}"). Ctrl-C stops it; ${tutti} search --study ${study.id} goes on.`,
      );
    const spent = describeSpentSpace(summarize(study, this.#store.log, { isRunning: true, isHere: true }));
    if (spent !== null) console.error(`note: ${spent} --seeds repeats each with other seeds.`);
  }

  changed(): void {
    const { study, log } = this.#store;
    for (const trial of log.trials) {
      if (trial.endedAt === null || this.#told.has(trial.number)) continue;
      this.#told.add(trial.number);
      const view = viewTrial(study, trial);
      if (this.#json) this.#print(toJson({ type: 'trial', trial: view }));
      else if (!this.#quiet) this.#print(describeTrial(study, view));
    }
  }

  end(end: 'finished' | 'stopped'): void {
    const { study, log, warnings } = this.#store;
    for (const warning of warnings) console.error(`warning: ${warning}`);
    const summary = summarize(study, log, { isRunning: false, isHere: false });
    const importance = importanceOf(study, log.trials);
    if (this.#json) return this.#print(toJson({ type: 'ended', end, summary, importance }));
    for (const line of describeBest(summary, study)) this.#print(line);
    if (!this.#quiet) for (const line of describeImportance(importance)) this.#print(line);
    if (end === 'stopped') this.#print(`Stopped. Continue with: ${tutti} search --study ${study.id}`);
  }

  #print(line: string): void {
    process.stdout.write(`${line}\n`);
  }
}

/** Ctrl-C stops the trials with their states, a second one ends them at once, as the other signals do. */
function stopOnSignals(driver: StudyDriver): { exitCode: number | null; release: () => void } {
  const press = new KeyPress();
  const watch: { exitCode: number | null; release: () => void } = { exitCode: null, release: () => undefined };
  const interrupt = (): void => {
    if (!press.isNew()) return;
    if (watch.exitCode !== null) return driver.abort();
    watch.exitCode = exitCodes.interrupted;
    console.error('Stopping; the trials keep their states. Press Ctrl-C again to end them at once.');
    driver.stop();
  };
  const end = (exitCode: number) => (): void => {
    watch.exitCode = exitCode;
    driver.abort();
  };
  const listeners = [
    ['SIGINT', interrupt],
    ['SIGTERM', end(exitCodes.terminated)],
    ['SIGHUP', end(exitCodes.hungUp)],
    ['SIGQUIT', end(exitCodes.quit)],
  ] as const;
  for (const [signal, listener] of listeners) process.on(signal, listener);
  watch.release = () => {
    for (const [signal, listener] of listeners) process.off(signal, listener);
  };
  return watch;
}

/** The number of tasks that work on a study; null where this process does. @throws UsageError */
function arrayOf({ array, sbatch, dryRun }: SearchOptions): number | null {
  if (array !== undefined) return parseCount('--array', array);
  if (dryRun || sbatch !== undefined)
    throw new UsageError('--dry-run and --sbatch belong to --array, which submits an array of jobs.');
  return null;
}

/** Trials at a time that a new study has for its array: one worker a task, unless the user says so. */
function parallelOf(tasks: number, { parallel, trialsPerWorker = '1' }: SearchOptions): string {
  return parallel ?? String(tasks * parseCount('--trials-per-worker', trialsPerWorker));
}

/** Checks that each task of an array would have work. @throws UsageError */
function requireTasks(tasks: number, { parallel, trialsPerWorker }: Pick<Study, 'parallel' | 'trialsPerWorker'>): void {
  const most = Math.floor(parallel / trialsPerWorker);
  if (tasks <= most) return;
  throw new UsageError(
    `With ${parallel} trials under way at a time, ${trialsPerWorker} in a worker, at most ${most} tasks would have ` +
      `work. Use --array ${most}, or a new study with a larger --parallel.`,
  );
}

/** Submits an array of jobs whose tasks share the trials of a study. @returns the exit code */
async function searchInArray(
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
