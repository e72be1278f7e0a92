import { trainingTimeMs } from '../../../core/protocol/history/history.ts';
import { hash } from 'node:crypto';
import { basename, dirname, join, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { describeNotFinite } from '../../../core/protocol/run/health.ts';
import { ownSummary, type RunRecord } from '../../../core/protocol/run/record.ts';
import { memberCountOf, plannedConfig } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { folderKey } from '../../../core/node/same-folder.ts';
import { whyNoRuns } from '../private-home.ts';
import { homePaths, tuttiHome } from '../home.ts';
import { FolderScan } from './folder-scan.ts';
import { inTransaction, openIndexDatabase } from './index-database.ts';
import { ambiguityError, describeRuns, meantRuns, sweepError } from './indexed-run.ts';
import {
  findSweepId,
  readChanges,
  readOverview,
  readPage,
  readProjects,
  readRevision,
  type TrainedProject,
} from './run-lists.ts';
import { StudyIndex } from './study-index.ts';
import { TrendIndex } from './metrics-index.ts';
import type { IndexQuery } from './run-query.ts';
import { readGroups, readKnownFields } from './run-groups.ts';
import { fieldsOf } from '../../../core/protocol/pages/runs/run-fields.ts';
import type { GroupRequest, KnownField, RunGroups } from '../../../core/protocol/pages/runs/run-groups.ts';
import type { RunListChange, RunOverview, RunPage, RunRow } from '../../../core/protocol/pages/run-list.ts';
import {
  type FolderProblem,
  type FoundRun,
  holdsRun,
  isOriginal,
  noteExternalFolder,
  readFoundRun,
} from '../runs/known-folders.ts';
import { readRunRecord } from '../runs/run-folder.ts';
import { readNotesIfWhole, type RunNotes } from '../runs/run-notes.ts';

/** Adding this many runs takes some milliseconds. Between two such steps, other work goes on. */
const stepRuns = 20;
/** If more folders are new, a reader of the list does not wait for them. */
const waitedRuns = 100;

/** The list of all runs, in SQLite. It is a cache that can be rebuilt from the run folders at any time. */
export class RunIndex {
  readonly #paths: ReturnType<typeof homePaths>;
  readonly #database: DatabaseSync;
  readonly #scan: FolderScan;
  /** The studies, which have a table of their own. */
  readonly studies: StudyIndex;
  /** The course of the monitored metric of runs that have ended. */
  readonly trends: TrendIndex;
  /** The last reading of new folders. Readings run one after the other. */
  #adding: Promise<unknown> = Promise.resolve();
  /** Folders that are being read. */
  readonly #unread = new Set<string>();
  /** Why the index is only in memory; null if it is on the disk. */
  readonly notice: string | null;

  /** Whether the home has a folder of runs. A read-only home may lack it; runs elsewhere train nevertheless. */
  readonly #hasRuns: boolean;

  private constructor(
    paths: ReturnType<typeof homePaths>,
    database: DatabaseSync,
    notice: string | null,
    hasRuns: boolean,
  ) {
    this.#paths = paths;
    this.#hasRuns = hasRuns;
    this.#database = database;
    this.#scan = new FolderScan(paths);
    this.studies = new StudyIndex(database);
    this.trends = new TrendIndex(database);
    this.notice = notice;
  }

  /**
   * Opens the index of a home folder. If it is missing, corrupt, of another version or copied from another home, it is
   * new and empty.
   * @param isFilled whether to fill a new one now; otherwise the first {@link refresh} does
   */
  static async open(home: string = tuttiHome(), isFilled = true): Promise<RunIndex> {
    const paths = homePaths(home);
    const unmade = await whyNoRuns(paths);
    const { database, isNew, notice } = openIndexDatabase(paths.index);
    const index = new RunIndex(paths, database, unmade ?? notice, unmade === null);
    if (isNew && isFilled) await index.refresh();
    return index;
  }

  /** The file of the index. */
  get path(): string {
    return this.#paths.index;
  }

  get isOpen(): boolean {
    return this.#database.isOpen;
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  /** Adds or updates a run from its record. Records folders outside of `runs/`, so that a rebuild finds them. */
  upsert(record: RunRecord, folder: string): void {
    const absolute = resolve(folder);
    const isNew = !this.#isIndexed(absolute);
    // First, because a read-only home takes no note.
    this.#insert(record, absolute);
    if (isNew) noteExternalFolder(this.#paths, absolute);
  }

  /** Updates the user's notes on an indexed run. */
  annotate(folder: string, notes: RunNotes): void {
    this.#database
      .prepare(
        `UPDATE runs SET given_name = :name, name = coalesce(:name, name), tags = :tags, note = :note, is_archived = :archived,
          notes_text = :text
        WHERE folder = :folder`,
      )
      .run({
        folder: resolve(folder),
        name: notes.name ?? null,
        tags: JSON.stringify(notes.tags),
        note: notes.note,
        archived: Number(notes.isArchived),
        text: [notes.name ?? '', ...notes.tags, notes.note].join('\n').toLowerCase(),
      });
  }

  /** Updates the best value of a run that trains. Its record only has one after the end. */
  noteBest(folder: string, best: { metric: string; value: number; epoch: number }): void {
    this.#database
      .prepare('UPDATE runs SET best_metric = :metric, best_value = :value, best_epoch = :epoch WHERE folder = :folder')
      .run({ folder: resolve(folder), metric: best.metric, value: best.value, epoch: best.epoch });
  }

  /** Notes the size of a run's folder, in bytes. */
  noteDisk(folder: string, bytes: number): void {
    this.#database.prepare('UPDATE runs SET disk_bytes = ? WHERE folder = ?').run(bytes, resolve(folder));
  }

  /** Removes a run whose folder is about to be removed. */
  remove(folder: string): void {
    this.#database.prepare('DELETE FROM runs WHERE folder = ?').run(folder);
  }

  list(query: IndexQuery = {}): RunRow[] {
    return readPage(this.#database, query).rows;
  }

  /** Like {@link list}, with the number of runs on all pages. */
  page(query: IndexQuery): RunPage {
    return readPage(this.#database, query);
  }

  /** The groups of the runs that match, with what they have found. */
  groups(request: GroupRequest): RunGroups {
    return readGroups(this.#database, request);
  }

  /** The fields that the newest runs of a query have. */
  knownFields(query: IndexQuery): KnownField[] {
    return readKnownFields(this.#database, query);
  }

  /**
   * The id of the sweep over seeds that a text means: its id, name, or the beginning of its id; null if it means none,
   * or may mean something else.
   */
  findSweep(text: string): string | null {
    return findSweepId(this.#database, text);
  }

  overview(): RunOverview {
    return readOverview(this.#database);
  }

  /** The projects of all runs, the last used first. */
  projects(limit: number): TrainedProject[] {
    return readProjects(this.#database, limit);
  }

  /** Differs after every change of the list, by this process or another. */
  revision(): number {
    return readRevision(this.#database);
  }

  /** What has changed since a revision. At most `limit` runs are named. */
  changesSince(revision: number, limit: number): Omit<RunListChange, 'overview'> & { revision: number } {
    return readChanges(this.#database, revision, limit);
  }

  /**
   * Finds a run by its folder (even if it is not indexed yet), its id, its name, or the beginning of its id or name;
   * `last` is the newest run.
   * @throws Error if there is none, or several, which it lists
   */
  async find(text: string): Promise<RunRow> {
    if (text === '')
      throw new Error(
        'No run was named: give an id, a name, a folder, or last for the newest run. `tutti runs` lists the runs.',
      );
    const folder = resolve(text);
    if (holdsRun(folder)) await this.#readAgain(folder);
    await this.#readUnindexed(text);
    const [run, ...others] = meantRuns(this.#database, text, folder);
    if (run !== undefined && others.length > 0) {
      const sweep = this.findSweep(text);
      throw sweep === null ? ambiguityError(text, [run, ...others]) : sweepError(sweep, run);
    }
    if (run !== undefined) return run;
    throw new Error(
      `No run has the id, name or folder "${text}", or an id or name that begins with it. ${this.#newest()}`,
    );
  }

  /**
   * Rebuilds the index from the folders in `runs/` and the external ones.
   * @returns the folders that could not be read
   */
  async rebuild(): Promise<FolderProblem[]> {
    this.#database.exec('DELETE FROM runs');
    this.#scan.restart();
    return this.refresh();
  }

  /**
   * Adds runs whose folders are new, and removes those whose folders are gone.
   * @param inBackground takes the reading if many folders are new; otherwise it is awaited
   * @returns the folders that could not be read
   */
  async refresh(inBackground?: (reading: Promise<FolderProblem[]>) => void): Promise<FolderProblem[]> {
    if (!this.#hasRuns) return [];
    const { added, gone } = await this.#scan.look(() => this.#folders());
    // Also those that are being read already; a reading puts back what it could not read.
    this.#scan.taken(added);
    for (const folder of gone) this.remove(folder);
    const folders = added.filter((folder) => !this.#unread.has(folder));
    const reading = this.#readAll(folders);
    if (inBackground === undefined || folders.length <= waitedRuns) return reading;
    inBackground(reading);
    return [];
  }

  /** Reads folders and adds their runs, after those of earlier calls. */
  #readAll(folders: string[]): Promise<FolderProblem[]> {
    if (folders.length === 0) return Promise.resolve([]);
    for (const folder of folders) this.#unread.add(folder);
    let unread: readonly string[] = folders;
    const reading = this.#adding
      .then(() => this.#readInSteps(folders))
      .then((problems) => {
        unread = problems.unread.map(({ folder }) => folder);
        return [...problems.unread, ...problems.ofNotes];
      })
      .finally(() => {
        for (const folder of folders) this.#unread.delete(folder);
        this.#scan.putBack(unread);
      });
    this.#adding = reading.catch(() => undefined);
    return reading;
  }

  /** Copies come after the originals, which then keep their ids. */
  async #readInSteps(folders: readonly string[]): Promise<{ unread: FolderProblem[]; ofNotes: FolderProblem[] }> {
    const unread: FolderProblem[] = [];
    const ofNotes: FolderProblem[] = [];
    const copies: FoundRun[] = [];
    for (let first = 0; first < folders.length && this.#database.isOpen; first += stepRuns) {
      const originals: FoundRun[] = [];
      for (const folder of folders.slice(first, first + stepRuns)) {
        const found = await readFoundRun(folder);
        if ('message' in found) {
          unread.push(found);
          continue;
        }
        if (found.notesProblem !== null) ofNotes.push({ folder, message: found.notesProblem });
        (isOriginal(found) ? originals : copies).push(found);
      }
      this.#addAll(originals);
    }
    for (let first = 0; first < copies.length; first += stepRuns) {
      await setImmediate();
      this.#addAll(copies.slice(first, first + stepRuns));
    }
    return { unread, ofNotes };
  }

  #addAll(runs: readonly FoundRun[]): void {
    if (runs.length === 0 || !this.#database.isOpen) return;
    inTransaction(this.#database, () => runs.forEach((run) => this.#add(run)));
  }

  /** Adds a run in `runs/` whose folder has this name, if it is not indexed yet. */
  async #readUnindexed(name: string): Promise<void> {
    const folder = join(this.#paths.runs, name);
    if (dirname(folder) === this.#paths.runs && !this.#isIndexed(folder) && holdsRun(folder)) {
      await this.#readAgain(folder);
    }
  }

  async #readAgain(folder: string): Promise<void> {
    const [record, { notes }] = [await readRunRecord(folder), await readNotesIfWhole(folder)];
    try {
      this.upsert(record, folder);
      this.annotate(folder, notes);
    } catch (error) {
      // Its row is not up to date, but it leads to the folder.
      if (!this.#isIndexed(folder)) throw error;
    }
  }

  #add({ record, folder, notes }: FoundRun): void {
    this.#insert(record, folder);
    this.annotate(folder, notes);
  }

  #insert(record: RunRecord, folder: string): void {
    const best = record.summary?.best ?? null;
    const row = {
      folder,
      id: this.#idOf(record, folder),
      name: record.name,
      ...projectColumns(record),
      task: record.task,
      strategy: record.config.strategy.kind,
      members: memberCountOf(plannedConfig(record)),
      status: record.status,
      created_at: record.createdAt,
      ended_at: record.endedAt,
      trained_seconds:
        trainingTimeMs({ attempts: record.attempts.filter(({ endedAt }) => endedAt !== null) }, 0) / 1000,
      started_at: record.attempts.at(-1)?.startedAt ?? record.createdAt,
      best_metric: best?.metric ?? null,
      best_value: best?.value ?? null,
      best_epoch: best?.epoch ?? null,
      error: record.error?.message ?? null,
      not_finite: describeNotFinite(record),
      origin: record.origin?.run ?? null,
      sweep: record.sweep === undefined ? null : JSON.stringify(record.sweep),
      sweep_id: record.sweep?.id ?? null,
      record_text: this.#textOf(record, folder),
      fields: toJson(fieldsOf(record)),
    };
    const columns = Object.keys(row);
    const values = columns.map((column) => (column === 'fields' ? 'jsonb(:fields)' : `:${column}`));
    // While the last attempt has no best value in the record, the value from `noteBest` stays.
    const isNoted = (ownSummary(record)?.best ?? null) === null;
    const valueOf = (column: string) =>
      column.startsWith('best_') && isNoted ? `runs.${column}` : `excluded.${column}`;
    const changes = columns.map((column) => `${column} = ${valueOf(column)}`).join(', ');
    // The user's notes stay, including a name given by the user.
    this.#database
      .prepare(
        `INSERT INTO runs (${columns.join(', ')}) VALUES (${values.join(', ')})
        ON CONFLICT (folder) DO UPDATE SET ${changes}, name = coalesce(given_name, excluded.name)`,
      )
      .run(row);
  }

  /** The run's id; for a copy of a run that is listed already, the id and a part that depends on the folder. */
  #idOf({ id }: RunRecord, folder: string): string {
    const isTaken = this.#database.prepare('SELECT 1 FROM runs WHERE id = ? AND folder <> ?').get(id, folder);
    return isTaken === undefined ? id : `${id}~${hash('sha256', folder, 'hex').slice(0, 6)}`;
  }

  /** What a search looks at, in lower case. The path of the runs' common folder would match each of them. */
  #textOf({ id, name, project, task, status, config, error }: RunRecord, folder: string): string {
    const place = dirname(folder) === this.#paths.runs ? basename(folder) : folder;
    const words = [name, id, project.name, config.strategy.kind, task, status, place, error?.message ?? ''];
    return words.join('\n').toLowerCase();
  }

  #folders(): string[] {
    return this.#database
      .prepare('SELECT folder FROM runs')
      .all()
      .map(({ folder }) => String(folder));
  }

  #isIndexed(folder: string): boolean {
    return this.#database.prepare('SELECT 1 FROM runs WHERE folder = ?').get(folder) !== undefined;
  }

  #newest(): string {
    const newest = this.list({ limit: 3 });
    if (newest.length === 0) return 'There are no runs yet: start one with `tutti train`.';
    return `The newest runs are:\n${describeRuns(newest)}\n\`tutti runs\` lists them all.`;
  }
}

function projectColumns({ project: { name, folder } }: RunRecord) {
  return { project: name, project_folder: folder, project_key: folderKey(folder) };
}
