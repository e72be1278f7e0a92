import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Holders keep the lock for the time of a few small files, so that waiting longer means that one of them hangs. */
const WAIT_MS = 2_000;
const SQLITE_BUSY = 5;

/** What this process does or waits to do, by folder: SQLite's own wait would block the holder in the same process. */
const turns = new Map<string, Promise<unknown>>();

/**
 * Runs `action` while nobody else, in this process or another, does so for the same run folder. The lock is SQLite's own on
 * an empty database: the system frees it when its holder dies, which no file that merely exists could promise.
 * @throws Error when another process keeps the lock for more than 2 s
 */
export function withRunLock<T>(folder: string, action: () => Promise<T>): Promise<T> {
  const key = resolve(folder);
  const earlier = turns.get(key) ?? Promise.resolve();
  const turn = earlier.then(() => runLocked(key, action));
  // The caller of this turn gets its failure; the next turn runs in any case.
  turns.set(
    key,
    turn.catch(() => undefined),
  );
  return turn;
}

async function runLocked<T>(folder: string, action: () => Promise<T>): Promise<T> {
  const lock = acquire(folder);
  try {
    return await action();
  } finally {
    lock.close();
  }
}

function acquire(folder: string): DatabaseSync {
  const path = join(folder, '.lock');
  let lock: DatabaseSync | null = null;
  try {
    lock = new DatabaseSync(path, { timeout: WAIT_MS });
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    const isBusy = error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
    const remedy = isBusy
      ? `another Tutti process has been changing the run for more than ${WAIT_MS / 1000} s. Wait until it is done, or end it.`
      : `${error instanceof Error ? error.message : String(error)}. This user must be able to write the run folder.`;
    throw new Error(`Cannot lock ${path}: ${remedy}`, { cause: error });
  }
}
