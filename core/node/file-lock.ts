import { randomUUID } from 'node:crypto';
import { type BigIntStats, closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { messageOf } from '../text/errors.ts';
import { errorCode, explainFileError } from './file-error.ts';

/** The low byte of SQLite's code when another connection has the lock. */
const SQLITE_BUSY = 5;
const TRY_EVERY_MS = 20;
/** Codes of a path that leads nowhere; ESTALE: removed on the server of a network file system. */
const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ESTALE']);

/** What a look at a lock finds. `unknown`: nobody can tell from here, so its holder must count as alive. */
export type LockSight = { kind: 'held' } | { kind: 'free' } | { kind: 'unknown'; reason: string };

/**
 * Keeps the locks that this process holds from being collected as garbage: SQLite would close their files, which frees
 * them.
 */
const heldLocks = new Set<FileLock>();

/**
 * A lock of the system on an empty file, which no other process, container or user on this machine can have at the same
 * time. The system frees it when its holder ends in any way, and only then: not when the holder is stopped or busy.
 *
 * It is SQLite's lock (a POSIX record lock, on Windows `LockFile`), taken by an exclusive transaction. POSIX frees a
 * process's locks on a file when the process closes any descriptor of that file. SQLite minds that; so nothing else may
 * open a lock's file.
 */
export class FileLock {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #identity: string | null;

  private constructor(path: string, database: DatabaseSync) {
    this.#path = path;
    this.#database = database;
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    this.#identity = stats === undefined ? null : identityOf(stats);
  }

  /**
   * Takes the lock, and creates its file if there is none.
   * @returns null if another holder has it
   * @throws FileError if the file cannot be created, Error if it cannot be locked at all
   */
  static tryTake(path: string): FileLock | null {
    const isNew = createIfMissing(path);
    let database: DatabaseSync | null = null;
    try {
      database = openDatabase(path, { timeout: 0 });
      // A journal on the disk would be a second file.
      database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
      const lock = new FileLock(path, database);
      heldLocks.add(lock);
      return lock;
    } catch (error) {
      database?.close();
      if (isBusy(error) && hasLocks(dirname(path))) return null;
      if (isNew) rmSync(path, { force: true });
      throw new Error(`Cannot lock ${path}: ${reasonFor(error)}. ${remedyFor(error)}`, { cause: error });
    }
  }

  /** Like {@link tryTake}, but waits until the lock is free. @returns null if it was not within `waitMs` */
  static async take(path: string, waitMs: number): Promise<FileLock | null> {
    const endMs = performance.now() + waitMs;
    for (;;) {
      const lock = FileLock.tryTake(path);
      if (lock !== null || performance.now() >= endMs) return lock;
      await wait(TRY_EVERY_MS);
    }
  }

  /** Whether the path still leads to the locked file. If not, somebody removed, moved or replaced it or its folder. */
  async isInPlace(): Promise<boolean> {
    try {
      return identityOf(await stat(this.#path, { bigint: true })) === this.#identity;
    } catch (error) {
      // A disk that cannot be read at the moment may come back.
      return !GONE.has(errorCode(error) ?? '');
    }
  }

  release(): void {
    heldLocks.delete(this);
    if (this.#database.isOpen) this.#database.close();
  }
}

/**
 * Looks whether somebody holds the lock of a file, with no more than the permission to read it. Many may look at the
 * same time, and a holder never notices.
 */
export function lookAtLock(path: string): LockSight {
  try {
    statSync(path);
  } catch (error) {
    // Nobody holds the lock of a file that does not exist.
    if (errorCode(error) === 'ENOENT') return { kind: 'free' };
    return { kind: 'unknown', reason: messageOf(explainFileError(error, path, 'look at')) };
  }
  let database: DatabaseSync | null = null;
  try {
    database = openDatabase(path, { readOnly: true, timeout: 0 });
    // Reading takes the shared lock, which excludes a holder's exclusive one but no other reader.
    database.exec('SELECT 1 FROM sqlite_schema');
    return { kind: 'free' };
  } catch (error) {
    if (isBusy(error)) return { kind: 'held' };
    return { kind: 'unknown', reason: `Cannot look at the lock ${path}: ${reasonFor(error)}. ${remedyFor(error)}` };
  } finally {
    database?.close();
  }
}

/**
 * SQLite would create the file, but not say why it cannot. Nobody holds the lock of a missing file, so that closing it
 * here frees none.
 * @returns whether it is new
 */
function createIfMissing(path: string): boolean {
  if (existsSync(path)) return false;
  try {
    closeSync(openSync(path, 'a'));
    return true;
  } catch (error) {
    throw explainFileError(error, path, 'create the lock');
  }
}

/** Devices on which a lock was got. */
const devicesWithLocks = new Set<bigint>();

/**
 * Whether a folder's file system has locks, as far as a file that nobody else knows can tell: SQLite reports a missing
 * lock service (ENOLCK) as if somebody had the lock.
 */
function hasLocks(folder: string): boolean {
  let probe: string | null = null;
  let database: DatabaseSync | null = null;
  try {
    const { dev } = statSync(folder, { bigint: true });
    if (devicesWithLocks.has(dev)) return true;
    probe = join(folder, `.${randomUUID()}.probe`);
    database = openDatabase(probe, { timeout: 0 });
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    devicesWithLocks.add(dev);
    return true;
  } catch (error) {
    // A folder that cannot be written says nothing about its locks.
    return !isBusy(error);
  } finally {
    database?.close();
    if (probe !== null) rmSync(probe, { force: true });
  }
}

/** Device and number of a file. */
function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

function isBusy(error: unknown): boolean {
  return sqliteCode(error) === SQLITE_BUSY;
}

function sqliteCode(error: unknown): number | null {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : null;
  return typeof code === 'number' ? code & 0xff : null;
}

/** What SQLite makes of ENOTSUP and other refusals of `fcntl`. */
const INPUT_OUTPUT = 10;
const CANNOT_OPEN = 14;
const LOCKING_PROTOCOL = 15;
const NOT_A_DATABASE = 26;

function reasonFor(error: unknown): string {
  if ([SQLITE_BUSY, INPUT_OUTPUT, LOCKING_PROTOCOL].includes(sqliteCode(error) ?? 0))
    return `its file system gives no lock (${messageOf(error)})`;
  if (sqliteCode(error) === CANNOT_OPEN) return 'this user may not open it';
  if (sqliteCode(error) === NOT_A_DATABASE) return 'it is not empty, so Tutti did not write it';
  return messageOf(error);
}

function remedyFor(error: unknown): string {
  if (sqliteCode(error) === NOT_A_DATABASE) return 'Remove it, if no Tutti process trains the run.';
  return (
    'This user must be able to write the folder, and its file system must have locks (network file systems: NFS ' +
    'with lockd, SMB), so that no two processes write one run. Or choose a folder on a local disk with --out or ' +
    'TUTTI_HOME.'
  );
}

/** SQLite is loaded when the first lock is: Node 20, on which users' own scripts may import the library, lacks it. */
function openDatabase(path: string, options: { timeout: number; readOnly?: boolean }): DatabaseSync {
  const sqlite = process.getBuiltinModule('node:sqlite');
  return new sqlite.DatabaseSync(path, options);
}
