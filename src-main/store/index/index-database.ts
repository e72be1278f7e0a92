import { realpathSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../../core/text/errors.ts';

/**
 * Incremented with every change of the table. An index of another version is dropped and rebuilt from the run folders.
 */
const SCHEMA_VERSION = 13;
const BUSY_TIMEOUT_MS = 5_000;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;
/**
 * SQLITE_PERM, _BUSY, _READONLY, _IOERR, _FULL, _CANTOPEN and _PROTOCOL: the file or its folder cannot be written, or
 * its file system has no locks (SQLite reports ENOLCK as _BUSY).
 */
const UNWRITABLE: ReadonlySet<number> = new Set([3, 5, 8, 10, 13, 14, 15]);

/** The columns whose changes lists show. */
const SHOWN = [
  'id name project project_folder task strategy members status created_at ended_at trained_seconds started_at',
  'best_metric best_value best_epoch error not_finite sweep tags note is_archived',
].flatMap((names) => names.split(' '));

/**
 * Notes the folder's last change under the next revision. It is no `INSERT OR REPLACE`, whose rule an upsert of the row
 * would override.
 */
const noteChange = (row: 'new' | 'old'): string =>
  `BEGIN DELETE FROM changes WHERE folder = ${row}.folder;
    INSERT INTO changes (folder, id) VALUES (${row}.folder, ${row}.id); END`;

const SCHEMA = `
  DROP TABLE IF EXISTS runs;
  DROP TABLE IF EXISTS changes;
  DROP TABLE IF EXISTS studies;
  DROP TABLE IF EXISTS trends;
  DROP TABLE IF EXISTS home;
  -- The folder in which it was made. In a copy of the home its rows lead to runs of the other one.
  CREATE TABLE home (folder TEXT NOT NULL) STRICT;
  CREATE TABLE runs (
    folder TEXT PRIMARY KEY,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    project TEXT NOT NULL,
    project_folder TEXT NOT NULL,
    -- Equal for all spellings of one folder (folderKey), as they are when the row is written.
    project_key TEXT NOT NULL,
    task TEXT NOT NULL,
    strategy TEXT NOT NULL,
    members INTEGER NOT NULL,
    status TEXT NOT NULL,
    created_at TEXT NOT NULL,
    ended_at TEXT,
    trained_seconds REAL NOT NULL,
    started_at TEXT NOT NULL,
    best_metric TEXT,
    best_value REAL,
    best_epoch INTEGER,
    error TEXT,
    not_finite TEXT,
    origin TEXT,
    sweep TEXT,
    sweep_id TEXT,
    given_name TEXT,
    tags TEXT NOT NULL DEFAULT '[]',
    note TEXT NOT NULL DEFAULT '',
    is_archived INTEGER NOT NULL DEFAULT 0,
    record_text TEXT NOT NULL,
    notes_text TEXT NOT NULL DEFAULT '',
    -- What lists can show beside these columns, as JSONB (fieldsOf).
    fields BLOB NOT NULL,
    disk_bytes INTEGER
  ) STRICT;
  CREATE INDEX runs_by_id ON runs (id);
  CREATE INDEX runs_by_origin ON runs (origin);
  CREATE INDEX runs_by_sweep ON runs (sweep_id);
  CREATE INDEX runs_by_creation ON runs (created_at);
  CREATE INDEX runs_by_status ON runs (status);
  CREATE INDEX runs_by_project ON runs (project);
  CREATE INDEX runs_by_project_key ON runs (project_key, created_at);
  CREATE TABLE changes (revision INTEGER PRIMARY KEY AUTOINCREMENT, folder TEXT NOT NULL UNIQUE, id TEXT NOT NULL) STRICT;
  CREATE TABLE studies (folder TEXT PRIMARY KEY, bytes INTEGER NOT NULL, summary TEXT NOT NULL) STRICT;
  CREATE TABLE trends (folder TEXT PRIMARY KEY, stamp TEXT NOT NULL, points BLOB NOT NULL) STRICT;
  CREATE TRIGGER trends_removed AFTER DELETE ON runs BEGIN DELETE FROM trends WHERE folder = old.folder; END;
  CREATE TRIGGER runs_added AFTER INSERT ON runs ${noteChange('new')};
  CREATE TRIGGER runs_removed AFTER DELETE ON runs ${noteChange('old')};
  CREATE TRIGGER runs_changed AFTER UPDATE ON runs WHEN ${SHOWN.map((name) => `old.${name} IS NOT new.${name}`).join(' OR ')}
    ${noteChange('new')};
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

export interface OpenedIndex {
  database: DatabaseSync;
  /** Whether the table is new and must be filled. */
  isNew: boolean;
  /** Why the index is only in memory; null if it is on the disk. */
  notice: string | null;
}

/**
 * Opens the index's database. A corrupt file is replaced, and that of a copied home filled anew, because the run
 * folders hold the same data. Where the file cannot be written (a read-only or full disk), the index is in memory and
 * is gone with the process.
 */
export function openIndexDatabase(path: string): OpenedIndex {
  try {
    return { ...connectOrReplace(path), notice: null };
  } catch (error) {
    const failure = explainOpenError(error, path);
    if (!UNWRITABLE.has(codeOf(error))) throw failure;
    const notice = `${failure.message} Until then, the list is made from the run folders each time.`;
    return { ...connect(':memory:'), notice };
  }
}

function connectOrReplace(path: string): { database: DatabaseSync; isNew: boolean } {
  try {
    return connect(path);
  } catch (error) {
    if (![SQLITE_CORRUPT, SQLITE_NOTADB].includes(codeOf(error))) throw error;
    for (const ending of ['', '-wal', '-shm']) rmSync(path + ending, { force: true });
    return connect(path);
  }
}

/** Runs `action` in one transaction. */
export function inTransaction(database: DatabaseSync, action: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    action();
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

function connect(path: string): { database: DatabaseSync; isNew: boolean } {
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    requireSound(database);
    const home = path === ':memory:' ? path : realpathSync(dirname(path));
    const isNew = !isOfHome(database, home);
    if (isNew) createSchema(database, home);
    return { database, isNew };
  } catch (error) {
    database.close();
    throw error;
  }
}

function requireSound(database: DatabaseSync): void {
  const result = database.prepare('PRAGMA integrity_check(1)').get()?.integrity_check;
  if (result !== 'ok')
    throw Object.assign(new Error(`integrity_check: ${String(result)}`), { errcode: SQLITE_CORRUPT });
}

function createSchema(database: DatabaseSync, home: string): void {
  inTransaction(database, () => {
    // Another process may have created it while this one waited for the lock.
    if (isOfHome(database, home)) return;
    database.exec(SCHEMA);
    database.prepare('INSERT INTO home (folder) VALUES (?)').run(home);
  });
}

/** Whether the tables are of this version, and were made in this folder. */
function isOfHome(database: DatabaseSync, home: string): boolean {
  if (database.prepare('PRAGMA user_version').get()?.user_version !== SCHEMA_VERSION) return false;
  return database.prepare('SELECT folder FROM home').get()?.folder === home;
}

/** SQLite's primary result code; 0 if it is no error of SQLite. The upper bits of an extended code tell more. */
function codeOf(error: unknown): number {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : 0;
  return typeof code === 'number' ? code & 0xff : 0;
}

function explainOpenError(error: unknown, path: string): Error {
  const reason = messageOf(error);
  return new Error(
    `Cannot open the index of runs ${path}: ${reason}. This user must be able to write the file and its folder, ` +
      'and its file system must have locks; correct the permissions, or choose another folder with TUTTI_HOME.',
    { cause: error },
  );
}
