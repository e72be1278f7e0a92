import type { DatabaseSync } from 'node:sqlite';
import type { StudySummary } from '../../../core/protocol/pages/study-views.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { studySummarySchema } from '../../../core/protocol/pages/study-views.ts';

/** The list of all studies, in SQLite: a cache of the studies' folders, from which it can be filled again. */
export class StudyIndex {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** The summary of a study whose log has this many bytes; null if the index knows another state of it, or none. */
  find(folder: string, bytes: number): StudySummary | null {
    const row = this.#database.prepare('SELECT summary FROM studies WHERE folder = ? AND bytes = ?').get(folder, bytes);
    return row === undefined ? null : studySummarySchema.parse(JSON.parse(String(row.summary)));
  }

  put(folder: string, bytes: number, summary: StudySummary): void {
    this.#database
      .prepare(
        `INSERT INTO studies (folder, bytes, summary) VALUES (:folder, :bytes, :summary)
        ON CONFLICT (folder) DO UPDATE SET bytes = excluded.bytes, summary = excluded.summary`,
      )
      .run({ folder, bytes, summary: toJson(summary) });
  }

  /** Removes the studies of all other folders. */
  keep(folders: readonly string[]): void {
    this.#database
      .prepare('DELETE FROM studies WHERE folder NOT IN (SELECT value FROM json_each(?))')
      .run(JSON.stringify(folders));
  }
}
