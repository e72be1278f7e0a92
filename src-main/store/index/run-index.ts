import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { describeNotFinite } from '../../../core/protocol/run/health.ts';
import { ownSummary, type RunRecord } from '../../../core/protocol/run/record.ts';
import { explainFileError } from '../../../core/node/file-error.ts';
import { makeFolder } from '../../../core/node/make-folder.ts';
import { privateMode } from '../private-home.ts';
import { homePaths, tuttiHome } from '../home.ts';
import { inTransaction, openIndexDatabase } from './index-database.ts';
import {
  SELECT_ROWS,
  SELECT_RUNS,
  ambiguityError,
  describeRuns,
  parseIndexRows,
  parseRows,
  toClauses,
} from './indexed-run.ts';
import type { IndexRow, IndexedRun, Parameters, RunQuery } from './indexed-run.ts';
import { holdsRun, knownFolders, noteExternalFolder, readRunRecords } from '../runs/known-folders.ts';
import type { FolderProblem, FoundRun } from '../runs/known-folders.ts';
import { readRunRecord } from '../runs/run-folder.ts';
import { readRunNotes, type RunNotes } from '../runs/run-notes.ts';

/** The list of all runs, in SQLite. It is a cache that can be rebuilt from the run folders at any time. */
export class RunIndex {
  readonly #paths: ReturnType<typeof homePaths>;
  readonly #database: DatabaseSync;
  /** Why the index is only in memory; null if it is on the disk. */
  readonly notice: string | null;

  private constructor(paths: ReturnType<typeof homePaths>, database: DatabaseSync, notice: string | null) {
    this.#paths = paths;
    this.#database = database;
    this.notice = notice;
  }

  /** Opens the index of a home folder. Rebuilds it if it is missing, corrupt or of another version. */
  static async open(home: string = tuttiHome()): Promise<RunIndex> {
    const paths = homePaths(home);
    try {
      await makeFolder(paths.runs, privateMode);
    } catch (error) {
      throw explainFileError(error, paths.runs, 'create');
    }
    const { database, isNew, notice } = openIndexDatabase(paths.index);
    const index = new RunIndex(paths, database, notice);
    if (isNew) await index.rebuild();
    return index;
  }

  /** The file of the index. */
  get path(): string {
    return this.#paths.index;
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  /** Adds or updates a run from its record. Records folders outside of `runs/`, so that a rebuild finds them. */
  upsert(record: RunRecord, folder: string): void {
    const absolute = resolve(folder);
    if (!this.#isIndexed(absolute)) noteExternalFolder(this.#paths, absolute);
    this.#insert(record, absolute);
  }

  /** Updates the user's notes on an indexed run. */
  annotate(folder: string, notes: RunNotes): void {
    this.#database
      .prepare(
        `UPDATE runs SET given_name = :name, name = coalesce(:name, name), tags = :tags, note = :note, is_archived = :archived
        WHERE folder = :folder`,
      )
      .run({
        folder: resolve(folder),
        name: notes.name ?? null,
        tags: JSON.stringify(notes.tags),
        note: notes.note,
        archived: Number(notes.isArchived),
      });
  }

  /** Updates the best value of a run that trains. Its record only has one after the end. */
  noteBest(folder: string, best: { metric: string; value: number; epoch: number }): void {
    this.#database
      .prepare('UPDATE runs SET best_metric = :metric, best_value = :value, best_epoch = :epoch WHERE folder = :folder')
      .run({ folder: resolve(folder), metric: best.metric, value: best.value, epoch: best.epoch });
  }

  /** Removes a run whose folder is about to be removed. */
  remove(folder: string): void {
    this.#database.prepare('DELETE FROM runs WHERE folder = ?').run(folder);
  }

  list(query: RunQuery = {}): IndexedRun[] {
    const { clauses, parameters } = toClauses(query);
    return this.#select(clauses, parameters);
  }

  /** Like {@link list}, without the configurations, which are most of a long list's text. */
  rows(query: RunQuery = {}): IndexRow[] {
    const { clauses, parameters } = toClauses(query);
    return parseIndexRows(this.#all(SELECT_ROWS, clauses, parameters));
  }

  /** Differs after every write to the index, by this process or another. */
  version(): string {
    const elsewhere = this.#database.prepare('PRAGMA data_version').get()?.data_version;
    const here = this.#database.prepare('SELECT total_changes() AS count').get()?.count;
    return `${String(elsewhere)} ${String(here)}`;
  }

  /**
   * Finds a run by its folder (even if it is not indexed yet), its id, its name, or the beginning of its id or name.
   * @throws Error if there is none, or several, which it lists
   */
  async find(text: string): Promise<IndexedRun> {
    if (text === '') throw new Error('No run was named: give an id, a name or a folder. `tutti runs` lists the runs.');
    const folder = resolve(text);
    if (holdsRun(folder)) await this.#readAgain(folder);
    const meanings = [
      'folder = :folder',
      'id = :text',
      'name = :text',
      'substr(id, 1, length(:text)) = :text OR substr(name, 1, length(:text)) = :text',
    ];
    for (const meaning of meanings) {
      const [run, ...others] = this.#select(`WHERE ${meaning}`, { text, folder });
      if (run !== undefined && others.length > 0) throw ambiguityError(text, [run, ...others]);
      if (run !== undefined) return run;
    }
    throw new Error(
      `No run has the id, name or folder "${text}", or an id or name that begins with it. ${this.#newest()}`,
    );
  }

  /** Rebuilds the index from the folders in `runs/` and the external ones. @returns the folders that could not be read */
  async rebuild(): Promise<FolderProblem[]> {
    const { runs, problems } = await readRunRecords(await knownFolders(this.#paths));
    inTransaction(this.#database, () => {
      this.#database.exec('DELETE FROM runs');
      for (const run of runs) this.#add(run);
    });
    return problems;
  }

  /**
   * Adds runs whose folders are new, and removes those whose folders are gone or, after the home was copied, belong to the other home.
   * @returns the folders that could not be read
   */
  async refresh(): Promise<FolderProblem[]> {
    // The list comes first: other processes add runs meanwhile, whose folders exist before.
    const indexed = new Set(this.#folders());
    const known = new Set(await knownFolders(this.#paths));
    for (const folder of indexed) if (!known.has(folder)) this.remove(folder);
    const { runs, problems } = await readRunRecords([...known].filter((folder) => !indexed.has(folder)));
    if (runs.length > 0) inTransaction(this.#database, () => runs.forEach((run) => this.#add(run)));
    return problems;
  }

  async #readAgain(folder: string): Promise<void> {
    const [record, notes] = [await readRunRecord(folder), await readRunNotes(folder)];
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
      project: record.project.name,
      project_folder: record.project.folder,
      task: record.task,
      strategy: record.config.strategy.kind,
      members: record.config.members,
      status: record.status,
      created_at: record.createdAt,
      ended_at: record.endedAt,
      best_metric: best?.metric ?? null,
      best_value: best?.value ?? null,
      best_epoch: best?.epoch ?? null,
      error: record.error?.message ?? null,
      not_finite: describeNotFinite(record),
      origin: record.origin?.run ?? null,
      config: toJson(record.config),
    };
    const columns = Object.keys(row);
    // While the last attempt has no best value in the record, the value from `noteBest` stays.
    const isNoted = (ownSummary(record)?.best ?? null) === null;
    const valueOf = (column: string) =>
      column.startsWith('best_') && isNoted ? `runs.${column}` : `excluded.${column}`;
    const changes = columns.map((column) => `${column} = ${valueOf(column)}`).join(', ');
    // The user's notes stay, including a name given by the user.
    this.#database
      .prepare(
        `INSERT INTO runs (${columns.join(', ')}) VALUES (:${columns.join(', :')})
        ON CONFLICT (folder) DO UPDATE SET ${changes}, name = coalesce(given_name, excluded.name)`,
      )
      .run(row);
  }

  /** The run's id; for a copy of a run that is listed already, the id and a part that depends on the folder. */
  #idOf({ id }: RunRecord, folder: string): string {
    const isTaken = this.#database.prepare('SELECT 1 FROM runs WHERE id = ? AND folder <> ?').get(id, folder);
    return isTaken === undefined ? id : `${id}~${hash('sha256', folder, 'hex').slice(0, 6)}`;
  }

  #select(clauses: string, parameters: Parameters): IndexedRun[] {
    return parseRows(this.#all(SELECT_RUNS, clauses, parameters));
  }

  #all(select: string, clauses: string, parameters: Parameters): unknown[] {
    const statement = this.#database.prepare(`${select} ${clauses}`);
    statement.setAllowUnknownNamedParameters(true);
    return statement.all(parameters);
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
