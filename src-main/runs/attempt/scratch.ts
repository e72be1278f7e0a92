import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileLock, lookAtLock } from '../../../core/node/file-lock.ts';

const prefix = 'tutti-';
/** Space that decoded data may need. The folder is in memory if that much is free there, else on disk. */
const wantedBytes = 2 ** 30;
/** Other processes may take the lock of a new folder before its owner does, and then remove the folder. */
const attempts = 10;

/**
 * The owner-only folder for files that last as long as a run: its socket, and the data that its ranks share. The folder is in memory
 * (`/dev/shm`) if there is space. Its owner holds the lock of a file in it, so that other processes can tell whether it is abandoned, also
 * in containers that share the memory but count their own process ids.
 */
export class ScratchFolder {
  readonly path: string;
  readonly #lock: FileLock;

  private constructor(path: string, lock: FileLock) {
    this.path = path;
    this.#lock = lock;
  }

  /** Creates a folder, and removes those of dead hubs. */
  static async create(): Promise<ScratchFolder> {
    const parent = (await hasRoom('/dev/shm')) ? '/dev/shm' : tmpdir();
    await removeAbandoned(parent);
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const path = await mkdtemp(join(parent, `${prefix}${process.pid}-`));
      const lock = FileLock.tryTake(lockPath(path));
      if (lock !== null && (await lock.isInPlace())) return new ScratchFolder(path, lock);
      lock?.release();
      await rm(path, { recursive: true, force: true });
    }
    throw new Error(
      `Other processes removed ${attempts} new folders in ${parent} before this one could lock them. Try again.`,
    );
  }

  async remove(): Promise<void> {
    // Windows cannot remove an open file.
    this.#lock.release();
    await rm(this.path, { recursive: true, force: true });
  }
}

function lockPath(folder: string): string {
  return join(folder, 'hub.lock');
}

async function hasRoom(folder: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize >= wantedBytes;
  } catch {
    return false; // No such folder: not Linux.
  }
}

async function removeAbandoned(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (new RegExp(`^${prefix}\\d+-`).test(name)) await removeIfAbandoned(join(parent, name));
  }
}

/** Removes a folder whose lock can be had. A folder without a lock's file is about to get one, or is not a hub's. */
async function removeIfAbandoned(folder: string): Promise<void> {
  const path = lockPath(folder);
  if (!existsSync(path) || lookAtLock(path).kind !== 'free') return;
  const lock = takeIfPossible(path);
  if (lock === null) return;
  try {
    // Another hub may be removing it at the same time.
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  } finally {
    lock.release();
  }
}

/** Another user's folder cannot be locked, nor one that was removed meanwhile. */
function takeIfPossible(path: string): FileLock | null {
  try {
    return FileLock.tryTake(path);
  } catch {
    return null;
  }
}
