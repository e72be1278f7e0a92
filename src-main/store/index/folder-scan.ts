import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { errorCode } from '../../../core/node/file-error.ts';
import type { homePaths } from '../home.ts';
import { holdsRun, readExternalFolders } from '../runs/known-folders.ts';

/** Looking at this many folders takes a few milliseconds. */
const sliceFolders = 200;
/**
 * Times of files have steps of some milliseconds: a folder that changed just before it was read may change again
 * without a new time.
 */
const settledMs = 100;

export interface FolderChanges {
  /** Folders with runs that are not in the index. */
  added: string[];
  /** Folders in the index that hold no run any more. */
  gone: string[];
}

/**
 * Looks for run folders that are new or gone. The first look checks each folder, in slices, so that other work goes on.
 * Later looks read the list of names only after it has changed; then they check the names that are new, and those that
 * held no run so far.
 */
export class FolderScan {
  readonly #paths: ReturnType<typeof homePaths>;
  /** The times at which the lists of folders had changed at the last look; null if they must be read again. */
  #seen: string | null = null;
  #isFirst = true;
  /** Known folders that are not in the index: they hold no run, or one that cannot be read. */
  #waiting: readonly string[] = [];
  /** Indexed folders outside of `runs/`, which may vanish without a change of these times. */
  #external: readonly string[] = [];

  constructor(paths: ReturnType<typeof homePaths>) {
    this.#paths = paths;
  }

  /** @param listIndexed returns the folders in the index */
  async look(listIndexed: () => string[]): Promise<FolderChanges> {
    const lookedMs = Date.now();
    const { times, newestMs } = await this.#times();
    if (this.#seen === times) return { added: await held(this.#waiting), gone: await empty(this.#external) };
    // The index comes first: other processes add runs meanwhile, whose folders exist before.
    const indexed = listIndexed();
    const listed = new Set(await this.#names());
    const known = new Set(indexed);
    this.#waiting = [...listed].filter((folder) => !known.has(folder));
    this.#external = indexed.filter((folder) => listed.has(folder) && dirname(folder) !== this.#paths.runs);
    const checked = this.#isFirst ? indexed.filter((folder) => listed.has(folder)) : this.#external;
    this.#isFirst = false;
    this.#seen = lookedMs - newestMs > settledMs ? times : null;
    const unlisted = indexed.filter((folder) => !listed.has(folder));
    return { added: await held(this.#waiting), gone: [...unlisted, ...(await empty(checked))] };
  }

  /** Lets the next look check each folder. */
  restart(): void {
    this.#isFirst = true;
    this.#seen = null;
  }

  /** Tells that these folders are read from now on. */
  taken(folders: readonly string[]): void {
    const taken = new Set(folders);
    this.#waiting = this.#waiting.filter((folder) => !taken.has(folder));
  }

  /** Tells that these folders could not be read; the next look finds them again. */
  putBack(folders: readonly string[]): void {
    this.#waiting = [...new Set([...this.#waiting, ...folders])];
  }

  async #names(): Promise<string[]> {
    // A hidden folder is one that is being imported or deleted.
    const names = (await readdir(this.#paths.runs)).filter((name) => !name.startsWith('.'));
    return [...names.map((name) => join(this.#paths.runs, name)), ...(await readExternalFolders(this.#paths))];
  }

  async #times(): Promise<{ times: string; newestMs: number }> {
    const read = [this.#paths.runs, this.#paths.externalRuns].map(async (path) => {
      try {
        const { mtimeNs, size } = await stat(path, { bigint: true });
        return { text: `${mtimeNs} ${size}`, timeMs: Number(mtimeNs / 1_000_000n) };
      } catch (error) {
        if (errorCode(error) !== 'ENOENT') throw error;
        return { text: '', timeMs: 0 };
      }
    });
    const found = await Promise.all(read);
    return {
      times: found.map(({ text }) => text).join('\n'),
      newestMs: Math.max(...found.map(({ timeMs }) => timeMs)),
    };
  }
}

function held(folders: readonly string[]): Promise<string[]> {
  return filterInSlices(folders, holdsRun);
}

function empty(folders: readonly string[]): Promise<string[]> {
  return filterInSlices(folders, (folder) => !holdsRun(folder));
}

async function filterInSlices(folders: readonly string[], isKept: (folder: string) => boolean): Promise<string[]> {
  const kept: string[] = [];
  for (const [index, folder] of folders.entries()) {
    if (index % sliceFolders === sliceFolders - 1) await setImmediate();
    if (isKept(folder)) kept.push(folder);
  }
  return kept;
}
