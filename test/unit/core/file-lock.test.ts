import { readdir, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { FileLock, lookAtLock } from '../../../core/node/file-lock.ts';
import { temporaryFolder } from '../data/temp-folder.ts';

/** Lets SQLite fail as it does when `fcntl` fails in that way. */
function failToLock(errcode: number, message: string): void {
  const exec = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(() => {
    throw Object.assign(new Error(message), { errcode });
  });
  onTestFinished(() => exec.mockRestore());
}

/** SQLITE_BUSY and SQLITE_IOERR_LOCK: what SQLite 3.50 makes of ENOLCK, and of ENOTSUP, ENOSYS and EIO. */
const busy = 5;
const cannotLock = 3850;

describe('a lock on a file system without locks', () => {
  it.each([
    ['no lock service (ENOLCK)', busy, 'database is locked'],
    ['no locks (ENOTSUP)', cannotLock, 'disk I/O error'],
  ])('%s: is refused with the reason and what to do, and leaves no file', async (_name, errcode, message) => {
    const folder = await temporaryFolder();
    failToLock(errcode, message);
    expect(() => FileLock.tryTake(join(folder, 'lock'))).toThrow(
      new RegExp(
        `^Cannot lock .*/lock: its file system gives no lock \\(${message}\\)\\. .*NFS with ` +
          `lockd.*--out or TUTTI_HOME\\.$`,
      ),
    );
    await expect(FileLock.take(join(folder, 'lock'), 60_000)).rejects.toThrow('gives no lock');
    expect(await readdir(folder)).toEqual([]);
  });

  it('cannot be looked at, so that its holder counts as alive', async () => {
    const path = join(await temporaryFolder(), 'lock');
    await writeFile(path, '');
    failToLock(cannotLock, 'disk I/O error');
    expect(lookAtLock(path)).toMatchObject({ kind: 'unknown', reason: expect.stringContaining('gives no lock') });
  });
});

describe('a lock', () => {
  it('that somebody else holds is not taken for a missing one', async () => {
    const path = join(await temporaryFolder(), 'lock');
    const lock = FileLock.tryTake(path);
    expect([FileLock.tryTake(path), lookAtLock(path).kind]).toEqual([null, 'held']);
    lock?.release();
    const next = FileLock.tryTake(path);
    expect(next).not.toBeNull();
    next?.release();
  });

  it('whose file cannot be created says why, as any other file', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'file'), '');
    expect(() => FileLock.tryTake(join(folder, 'file', 'lock'))).toThrow(/^Cannot create the lock .*\(ENOTDIR\)/);
    expect(() => FileLock.tryTake(join(folder, 'none', 'lock'))).toThrow(/^Cannot create the lock .*\(ENOENT\)/);
  });
});
