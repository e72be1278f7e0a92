import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DELETED_ENDING, renameOver } from '../../../core/node/atomic-file.ts';
import { errorCode, explainFileError } from '../../../core/node/file-error.ts';
import { homePaths } from '../../store/home.ts';

/** Time within which a deletion can be undone. */
export const undoMs = 10_000;

/** The original path and the present path of a deleted file or folder. */
interface Moved {
  path: string;
  aside: string;
}

interface Deleted {
  moved: Moved[];
  restored: () => Promise<void>;
  timer: NodeJS.Timeout;
}

let asideCount = 0;

/** Holds deleted files: moves them aside at once, and removes them after 10 s. */
export class Trash {
  readonly #onError: (error: unknown) => void;
  readonly #deleted = new Map<string, Deleted>();

  /** @param onError called for files that could not be removed */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /**
   * Moves files and folders aside in the given order, all or none.
   * @param key restores them
   * @param restored called once they are back at their original paths
   */
  async put(key: string, paths: readonly string[], restored = () => Promise.resolve()): Promise<void> {
    const moved: Moved[] = [];
    try {
      for (const path of paths) moved.push({ path, aside: await moveAside(path) });
    } catch (error) {
      await moveBack(moved);
      throw error;
    }
    this.#deleted.set(key, { moved, restored, timer: this.#removeLater(key) });
  }

  #removeLater(key: string): NodeJS.Timeout {
    return setTimeout(() => this.#remove(key).catch(this.#onError), undoMs);
  }

  /**
   * Restores deleted files to their original paths.
   * @throws Error if they were removed, or another file has the path now
   */
  async restore(key: string): Promise<void> {
    const deleted = this.#deleted.get(key);
    if (deleted === undefined) {
      throw new Error(`The deletion of ${key} is final: it could be undone for ${undoMs / 1000} s.`);
    }
    const taken = deleted.moved.find(({ path }) => existsSync(path));
    if (taken !== undefined) {
      throw new Error(`${taken.path} was written again meanwhile. Move it away, then undo the deletion.`);
    }
    clearTimeout(deleted.timer);
    this.#deleted.delete(key);
    try {
      await moveBack(deleted.moved);
    } catch (error) {
      // What is not back yet can still be restored, once the user has made that possible.
      const moved = deleted.moved.filter(({ aside }) => existsSync(aside));
      this.#deleted.set(key, { ...deleted, moved, timer: this.#removeLater(key) });
      throw error;
    }
    await deleted.restored();
  }

  /** Removes files that an earlier process left when it was killed. */
  async empty(): Promise<void> {
    const { trash } = homePaths();
    for (const name of await namesIn(trash)) {
      const path = join(trash, name);
      // Another process may still be waiting for an undo. A rename changes the time of the inode.
      const { ctimeMs } = await stat(path);
      if (Date.now() - ctimeMs > undoMs) await rm(path, { recursive: true, force: true });
    }
  }

  /** Removes all deleted files. */
  async close(): Promise<void> {
    for (const key of this.#deleted.keys()) await this.#remove(key);
  }

  async #remove(key: string): Promise<void> {
    const deleted = this.#deleted.get(key);
    if (deleted === undefined) return;
    clearTimeout(deleted.timer);
    this.#deleted.delete(key);
    for (const { aside } of deleted.moved) await rm(aside, { recursive: true, force: true });
  }
}

/**
 * Moves a file into the trash; on another disk, where that would copy it, to a name beside it.
 * @returns the new path
 */
async function moveAside(path: string): Promise<string> {
  const { trash } = homePaths();
  asideCount += 1;
  const aside = join(trash, `${process.pid}-${asideCount}-${basename(path)}`);
  try {
    await mkdir(trash, { recursive: true });
    await renameOver(path, aside);
    return aside;
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw explainFileError(error, path, 'move aside');
    const beside = join(dirname(path), `.${basename(path)}${DELETED_ENDING}`);
    await renameOver(path, beside);
    return beside;
  }
}

/** Moves files back in reverse order, so that a record comes back after the files that it describes. */
async function moveBack(moved: readonly Moved[]): Promise<void> {
  for (const { path, aside } of moved.toReversed()) await renameOver(aside, path);
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw explainFileError(error, folder, 'read');
  });
}
