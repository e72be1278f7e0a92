import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { explainFileError } from '../../../core/node/file-error.ts';
import { messageOf } from '../../../core/text/errors.ts';
import { FileLock, lookAtLock } from '../../../core/node/file-lock.ts';
import type { Launch } from '../../../core/protocol/run/messages.ts';

const prefix = 'tutti-';
/** A folder in memory, on Linux. */
const memory = '/dev/shm';
/** Space that decoded data may need. The folder is in memory if that much is free there, else on disk. */
const wantedBytes = 2 ** 30;
/** Other processes may take the lock of a new folder before its owner does, and then remove the folder. */
const attempts = 10;

interface LockedFolder {
  path: string;
  lock: FileLock;
}

/**
 * The owner-only folder for files that last as long as a run: its socket, and the data that its ranks share. The folder
 * is in memory (`/dev/shm`) if there is space. Its owner holds the lock of a file in it, so that other processes can
 * tell whether it is abandoned, also in containers that share the memory but count their own process ids.
 */
export class ScratchFolder {
  readonly path: string;
  /**
   * Another such folder on a disk, for data that do not fit into memory; null if `path` is on a disk, or none could be
   * made.
   */
  readonly overflow: string | null;
  readonly #folders: readonly LockedFolder[];

  private constructor(folders: readonly LockedFolder[]) {
    this.#folders = folders;
    this.path = folders[0].path;
    this.overflow = folders[1]?.path ?? null;
  }

  /**
   * Creates a folder, and removes those of dead hubs.
   * @param parents where, in the order in which they are tried; the first one that works is used
   * @throws Error with the reason for each parent
   */
  static async create(parents?: readonly string[]): Promise<ScratchFolder> {
    const places = parents ?? ((await hasRoom(memory)) ? [memory, tmpdir()] : [tmpdir(), memory]);
    const problems: string[] = [];
    for (const [index, parent] of places.entries()) {
      try {
        const first = await createIn(parent);
        const isOnlyInMemory = parent !== tmpdir() && index + 1 < places.length;
        // Few runs need it, so that its failure counts only once data do not fit.
        const overflow = isOnlyInMemory ? await createIn(places[index + 1]).catch(() => null) : null;
        return new ScratchFolder(overflow === null ? [first] : [first, overflow]);
      } catch (error) {
        problems.push(messageOf(explainFileError(error, parent, 'create a scratch folder in')));
      }
    }
    throw new Error(
      `A run needs a folder for its socket and shared data, and there is none:\n${problems.join('\n')}\n` +
        'Make room in one of them, or set TMPDIR to a folder of yours with a short path.',
    );
  }

  async remove(): Promise<void> {
    for (const { path, lock } of this.#folders) {
      // Windows cannot remove an open file.
      lock.release();
      await rm(path, { recursive: true, force: true });
    }
  }
}

async function createIn(parent: string): Promise<LockedFolder> {
  await removeAbandoned(parent);
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const path = await mkdtemp(join(parent, `${prefix}${process.pid}-`));
    try {
      const lock = FileLock.tryTake(lockPath(path));
      if (lock !== null && (await lock.isInPlace())) return { path, lock };
      lock?.release();
    } catch (error) {
      await rm(path, { recursive: true, force: true });
      throw error;
    }
    await rm(path, { recursive: true, force: true });
  }
  throw new Error(
    `Other processes removed ${attempts} new folders in ${parent} before this one could lock them. Try again.`,
  );
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

/** Folders that the ranks of a run may write. */
export type RankFolders = Pick<Launch, 'scratchFolder' | 'overflowFolder'>;

/**
 * The folders for files that ranks share, within those of the process. Later waves reuse them. They are emptied for a
 * run's first wave, because a host's folders served other runs, and for a restart, because a killed rank may have left
 * parts. The folder itself stays: processes were granted this one.
 */
export async function foldersOfRanks(
  { scratchFolder, overflowFolder }: RankFolders,
  isFresh: boolean,
): Promise<RankFolders> {
  const within = async (parent: string): Promise<string> => {
    const folder = join(parent, 'ranks');
    await mkdir(folder, { recursive: true });
    const left = isFresh ? await readdir(folder) : [];
    for (const name of left) await rm(join(folder, name), { recursive: true });
    return folder;
  };
  return {
    scratchFolder: await within(scratchFolder),
    overflowFolder: overflowFolder === null ? null : await within(overflowFolder),
  };
}
