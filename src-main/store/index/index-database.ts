import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../../core/text/errors.ts';

/** Incremented with every change of the table. An index of another version is dropped and rebuilt from the run folders. */
const SCHEMA_VERSION = 3;
const BUSY_TIMEOUT_MS = 5_000;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

const SCHEMA = `
  DROP TABLE IF EXISTS runs;
  CREATE TABLE runs (
    folder TEXT PRIMARY KEY,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    project TEXT NOT NULL,
    project_folder TEXT NOT NULL,
    task TEXT NOT NULL,
    strategy TEXT NOT NULL,
    members INTEGER NOT NULL,
    status TEXT NOT NULL,
    created_at TEXT NOT NULL,
    ended_at TEXT,
    best_metric TEXT,
    best_value REAL,
    best_epoch INTEGER,
    error TEXT,
    not_finite TEXT,
    config TEXT NOT NULL,
    given_name TEXT,
    tags TEXT NOT NULL DEFAULT '[]',
    note TEXT NOT NULL DEFAULT '',
    is_archived INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX runs_by_id ON runs (id);
  CREATE INDEX runs_by_creation ON runs (created_at);
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/**
 * Opens the index's database. A corrupt file is replaced, because the run folders hold the same data.
 * @returns also whether the table is new and must be filled
 */
export function openIndexDatabase(path: string): { database: DatabaseSync; isNew: boolean } {
  try {
    return connect(path);
  } catch (error) {
    if (!isCorruption(error)) throw explainOpenError(error, path);
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
    const isNew = readVersion(database) !== SCHEMA_VERSION;
    if (isNew) createSchema(database);
    return { database, isNew };
  } catch (error) {
    database.close();
    throw error;
  }
}

function requireSound(database: DatabaseSync): void {
  const result = database.prepare('PRAGMA quick_check(1)').get()?.quick_check;
  if (result !== 'ok') throw Object.assign(new Error(`quick_check: ${String(result)}`), { errcode: SQLITE_CORRUPT });
}

function createSchema(database: DatabaseSync): void {
  inTransaction(database, () => {
    // Another process may have created it while this one waited for the lock.
    if (readVersion(database) !== SCHEMA_VERSION) database.exec(SCHEMA);
  });
}

function readVersion(database: DatabaseSync): unknown {
  return database.prepare('PRAGMA user_version').get()?.user_version;
}

function isCorruption(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error)) return false;
  return error.errcode === SQLITE_CORRUPT || error.errcode === SQLITE_NOTADB;
}

function explainOpenError(error: unknown, path: string): Error {
  const reason = messageOf(error);
  return new Error(
    `Cannot open the index of runs ${path}: ${reason}. This user must be able to write the file and its folder; ` +
      'correct the permissions, or choose another folder with TUTTI_HOME.',
    { cause: error },
  );
}
