import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { SearchProgress } from '../../core/discovery/progress.ts';
import { type Search, whyNoBatch } from '../../core/discovery/search.ts';
import type { PlainObject } from '../../core/options/index.ts';
import type { ProjectDescription } from '../../core/protocol/run/project-description.ts';
import type { Pool } from '../../core/protocol/run/pool-task.ts';
import { createRunId, planRun } from '../hub/plan-run.ts';
import { describeProject } from '../runs/configuration/project.ts';
import { hashProjectSource } from '../runs/configuration/project-source.ts';
import { homePaths } from '../store/home.ts';
import { RunIndex } from '../store/index/run-index.ts';
import { WorkerHost } from '../runs/workers/worker-host.ts';
import { openPool } from './pool.ts';
import { removeRun, roundFolder, trainRound } from './train-round.ts';
import { type SearchEnd, SearchSession, type SearchUpdate } from './run-search.ts';
import { createSearch, lockSearch, readLines, readSearch, removeSearchAsides, searchPaths } from './search-folder.ts';

/** What the user decides about a search. */
export type SearchChoices = Omit<Search, 'format' | 'id' | 'createdAt' | 'project' | 'sourceHash' | 'task' | 'config'>;

/** Options of a run that a search sets itself: it keeps only what it needs. */
const ownOptions: PlainObject = {
  checkpoints: {
    ensembleBest: false,
    memberBest: false,
    final: true,
    everyEpochs: 0,
    keepTop: 0,
    stateEverySeconds: 1e9,
  },
  keepPredictions: 'none',
};

/**
 * Writes a new search.
 * @param overrides options of its runs, later ones override earlier ones
 * @returns its folder
 * @throws Error if the task, the acquisition and the goal do not fit each other, or the configuration is invalid
 */
export async function newSearch(
  projectFolder: string,
  project: ProjectDescription,
  choices: SearchChoices,
  {
    overrides,
    out,
    id = createRunId(projectFolder),
  }: { overrides: readonly PlainObject[]; out: string | undefined; id?: string },
): Promise<string> {
  refuse(project, choices);
  const { config } = await planRun(
    { projectFolder, overrides: [...overrides, ownOptions, { seed: choices.seed }] },
    project,
  );
  if (config.data.mode === 'broadcast') {
    throw new Error('With data.mode broadcast the ranks get no pool to predict. Choose data.mode shared or local.');
  }
  const folder = resolve(out ?? join(homePaths().discoveries, id));
  await createSearch(folder, {
    format: 1,
    id,
    createdAt: new Date().toISOString(),
    project: { name: project.name, folder: resolve(projectFolder) },
    sourceHash: await hashProjectSource(projectFolder),
    task: project.task,
    config,
    ...choices,
  });
  return folder;
}

function refuse(
  { task, name }: ProjectDescription,
  { goal, acquisition, oracle, isStartStratified }: SearchChoices,
): void {
  const isOfClass = task === 'binary' || task === 'classification';
  if (!isOfClass && task !== 'regression' && task !== 'heteroscedastic-regression') {
    throw new Error(
      `"${name}" has the task ${task}: a search needs binary, classification, regression or ` +
        'heteroscedastic-regression.',
    );
  }
  if (isOfClass !== (goal.kind === 'class')) {
    throw new Error(
      isOfClass
        ? `"${name}" has the task ${task}, so a search looks for a class: omit --minimize and --threshold.`
        : `"${name}" has the task ${task}, so a search looks for large or small values: omit --hit-class.`,
    );
  }
  const reason = whyNoBatch(acquisition);
  if (reason !== null) throw new Error(reason);
  if (isStartStratified && (!isOfClass || oracle.kind !== 'hidden')) {
    throw new Error(
      'A stratified start needs classes that the pool knows: use it with the hidden oracle and a task of classes.',
    );
  }
}

/** The folder of a search: a path, or its id or the beginning of it in Tutti's home. */
export function findSearch(search: string): string {
  const named = resolve(search);
  if (existsSync(join(named, 'discovery.json'))) return named;
  const folder = join(homePaths().discoveries, basename(search));
  if (existsSync(join(folder, 'discovery.json'))) return folder;
  throw new Error(`There is no search "${search}". Name its folder, or its id in ${homePaths().discoveries}.`);
}

/**
 * The folders of searches: of one, or of those that differ in their seeds and were begun together
 * (`tutti discover --repeat`), in the order of their seeds.
 * @param search as for {@link findSearch}, or the part that their ids have in common, or the folder that holds them
 */
export function findSearches(search: string): string[] {
  const begins = [join(resolve(search), 'seed-'), join(homePaths().discoveries, `${basename(search)}-seed-`)];
  const begin = begins.find((path) => existsSync(join(`${path}0`, 'discovery.json')));
  if (begin === undefined) return [findSearch(search)];
  const folders: string[] = [];
  while (existsSync(join(`${begin}${folders.length}`, 'discovery.json'))) folders.push(`${begin}${folders.length}`);
  return folders;
}

interface SearchWorkOptions {
  tell: (update: SearchUpdate) => void;
  /** Whether it continues with the project's present code although that has changed. */
  currentSource: boolean;
  /** Called once the search is open, before its next step. */
  begin: (session: SearchSession, search: Search, pool: Pool) => Promise<void>;
}

/** The work of this process on a search. Meanwhile no other process works on it. */
export class SearchWork {
  readonly #folder: string;
  readonly #options: SearchWorkOptions;
  #session: SearchSession | null = null;
  #isAborted = false;

  constructor(folder: string, options: SearchWorkOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  /** As {@link abort}: nothing is lost but the round that trains, which is trained again with the same result. */
  stop(): void {
    this.abort();
  }

  abort(): void {
    this.#isAborted = true;
    this.#session?.abort();
  }

  /**
   * @returns how far it is at its end; null if it was aborted
   * @throws Error if another process works on it, its code changed, or a run or the oracle fails
   */
  async run(): Promise<{ end: SearchEnd; search: Search; progress: SearchProgress } | null> {
    const search = await readSearch(this.#folder);
    const lock = lockSearch(this.#folder);
    try {
      await removeSearchAsides(this.#folder);
      await refuseChangedSource(search, this.#options.currentSource);
      return await this.#carryOut(search);
    } catch (error) {
      if (this.#isAborted) return null;
      throw error;
    } finally {
      lock.release();
    }
  }

  async #carryOut(search: Search) {
    const folder = this.#folder;
    const opened = await openPool(folder, search);
    const project = await describeProject(search.project.folder);
    const plan = await planRun({ projectFolder: search.project.folder, overrides: [{ ...search.config }] }, project);
    const index = await RunIndex.open(folder);
    const host = await WorkerHost.open(searchPaths(folder).runs);
    try {
      const planned = { ...plan, config: search.config };
      const training = { folder, search, planned, classNames: opened.pool.classNames, index, host };
      const session = new SearchSession({
        folder,
        search,
        opened,
        tell: this.#options.tell,
        lines: await readLines(folder),
        train: (place, labels, signal) => trainRound(training, place, labels, signal),
        forget: (place) => removeRun(roundFolder(folder, place), index),
      });
      this.#session = session;
      if (this.#isAborted) session.abort();
      await this.#options.begin(session, search, opened.pool);
      const end = await session.run();
      return end === null ? null : { end, search, progress: session.progress };
    } finally {
      await host.close();
      index.close();
    }
  }
}

async function refuseChangedSource({ sourceHash, project }: Search, currentSource: boolean): Promise<void> {
  if (currentSource || sourceHash === null || (await hashProjectSource(project.folder)) === sourceHash) return;
  throw new Error(
    `The source in ${project.folder} has changed since the search began, so its next choices may be others. ` +
      'Restore the source, or continue with --current-source.',
  );
}
