import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DELETED_ENDING } from '../../../core/node/atomic-file.ts';
import { errorCode, explainFileError } from '../../../core/node/file-error.ts';
import { homePaths } from '../../store/home.ts';

/** How long what was deleted can be had back. */
export const undoMs = 10_000;

/** Where a file or folder was, and where it waits. */
interface Moved {
  path: string;
  aside: string;
}

interface Deleted {
  moved: Moved[];
  takenBack: () => Promise<void>;
  timer: NodeJS.Timeout;
}

let asideCount = 0;

/** What was deleted: moved aside at once, gone after 10 s. */
export class Trash {
  readonly #onError: (error: unknown) => void;
  readonly #deleted = new Map<string, Deleted>();

  /** @param onError told of what could not be removed in the end */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /**
   * Moves files and folders aside in their order, all or none.
   * @param key what they are had back by
   * @param takenBack called once they are where they were
   */
  async put(key: string, paths: readonly string[], takenBack = () => Promise.resolve()): Promise<void> {
    const moved: Moved[] = [];
    try {
      for (const path of paths) moved.push({ path, aside: await moveAside(path) });
    } catch (error) {
      await moveBack(moved);
      throw error;
    }
    const timer = setTimeout(() => this.#remove(key).catch(this.#onError), undoMs);
    this.#deleted.set(key, { moved, takenBack, timer });
  }

  /** Brings back what was deleted, to where it was. @throws when it is gone, or another took its place */
  async takeBack(key: string): Promise<void> {
    const deleted = this.#deleted.get(key);
    if (deleted === undefined) {
      throw new Error(`The deletion of ${key} is final: it could be undone for ${undoMs / 1000} s.`);
    }
    const taken = deleted.moved.find(({ path }) => existsSync(path));
    if (taken !== undefined) {
      throw new Error(`${taken.path} was written anew meanwhile: move it away, then undo the deletion.`);
    }
    clearTimeout(deleted.timer);
    this.#deleted.delete(key);
    await moveBack(deleted.moved);
    await deleted.takenBack();
  }

  /** Removes what an earlier process left when it was killed. */
  async empty(): Promise<void> {
    const { trash } = homePaths();
    for (const name of await namesIn(trash)) {
      const path = join(trash, name);
      // Another process may still be waiting for an undo. A rename changes the time of the inode.
      const { ctimeMs } = await stat(path);
      if (Date.now() - ctimeMs > undoMs) await rm(path, { recursive: true, force: true });
    }
  }

  /** Removes all that waits. */
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

/** Into the trash; on another disk, where that would mean copying, to a name beside it. @returns where it is now */
async function moveAside(path: string): Promise<string> {
  const { trash } = homePaths();
  asideCount += 1;
  const aside = join(trash, `${process.pid}-${asideCount}-${basename(path)}`);
  try {
    await mkdir(trash, { recursive: true });
    await rename(path, aside);
    return aside;
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw explainFileError(error, path, 'move aside');
    const beside = join(dirname(path), `.${basename(path)}${DELETED_ENDING}`);
    await rename(path, beside);
    return beside;
  }
}

/** The last that was moved first: a record comes after what it speaks of. */
async function moveBack(moved: readonly Moved[]): Promise<void> {
  for (const { path, aside } of moved.toReversed()) await rename(aside, path);
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw explainFileError(error, folder, 'read');
  });
}
