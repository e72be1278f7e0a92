import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Hub } from '../hub.ts';
import { errorCode, explainFileError } from '../store/file-error.ts';
import { homePaths } from '../store/home.ts';
import { isHubAlive, isOpen } from '../store/recovery.ts';
import { readRunRecord } from '../store/run-folder.ts';
import { readRunNotes } from '../store/run-notes.ts';

/** How long a deleted run can be had back. */
export const undoMs = 10_000;

interface Deleted {
  /** Where it was, and where it waits. */
  folder: string;
  aside: string;
  timer: NodeJS.Timeout;
}

/** Runs that were deleted: moved aside at once, gone after 10 s. */
export class Trash {
  readonly #hub: Hub;
  readonly #onError: (error: unknown) => void;
  readonly #deleted = new Map<string, Deleted>();

  /** @param onError told of a folder that could not be removed in the end */
  constructor(hub: Hub, onError: (error: unknown) => void) {
    this.#hub = hub;
    this.#onError = onError;
  }

  /** @throws when the run is being trained */
  async put(id: string): Promise<void> {
    const { folder } = await this.#hub.find(id);
    const record = await readRunRecord(folder);
    if (isOpen(record) && (await isHubAlive(record))) {
      throw new Error(
        `The run ${id} is ${record.status} under process ${record.hub?.pid}. Stop it before deleting it.`,
      );
    }
    const aside = await moveAside(folder);
    this.#hub.index.remove(folder);
    const timer = setTimeout(() => this.#remove(id).catch(this.#onError), undoMs);
    this.#deleted.set(id, { folder, aside, timer });
  }

  /** Brings a run back to where it was. @throws when it is gone */
  async takeBack(id: string): Promise<void> {
    const deleted = this.#deleted.get(id);
    if (deleted === undefined) {
      throw new Error(`The run ${id} is gone: a deleted run can be had back for ${undoMs / 1000} s.`);
    }
    const { folder, aside, timer } = deleted;
    clearTimeout(timer);
    this.#deleted.delete(id);
    await rename(aside, folder);
    this.#hub.index.upsert(await readRunRecord(folder), folder);
    this.#hub.index.annotate(folder, await readRunNotes(folder));
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
    for (const id of this.#deleted.keys()) await this.#remove(id);
  }

  async #remove(id: string): Promise<void> {
    const deleted = this.#deleted.get(id);
    if (deleted === undefined) return;
    clearTimeout(deleted.timer);
    this.#deleted.delete(id);
    await rm(deleted.aside, { recursive: true, force: true });
  }
}

/** Into the trash; on another disk, where that would mean copying, to a name beside it. @returns where it is now */
async function moveAside(folder: string): Promise<string> {
  const { trash } = homePaths();
  const aside = join(trash, `${process.pid}-${basename(folder)}`);
  try {
    await mkdir(trash, { recursive: true });
    await rename(folder, aside);
    return aside;
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw explainFileError(error, folder, 'move aside');
    const beside = join(dirname(folder), `.${basename(folder)}.deleted`);
    await rename(folder, beside);
    return beside;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw explainFileError(error, folder, 'read');
  });
}
