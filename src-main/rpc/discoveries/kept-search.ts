import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { unlessMissing } from '../../../core/node/file-error.ts';
import { progressOf, type SearchProgress } from '../../../core/discovery/progress.ts';
import type { Search } from '../../../core/discovery/search.ts';
import { type Pool, poolFiles } from '../../../core/protocol/run/pool-task.ts';
import { readPoolDescription } from '../../discovery/pool.ts';
import { poolFolder, readLines, readSearch } from '../../discovery/search-folder.ts';
import { homePaths } from '../../store/home.ts';
import { readTensors } from '../../store/runs/safetensors-reader.ts';

/** A search as its files tell it. */
export interface KeptSearch {
  folder: string;
  search: Search;
  progress: SearchProgress;
}

/** A pool with the targets that its project gives. */
export interface KeptPool {
  pool: Pool;
  targets: Int32Array | Float32Array;
}

/** The folder of a search of Tutti's home. @throws Error if there is none of this id */
export function folderOf(id: string): string {
  const folder = join(homePaths().discoveries, id);
  // It becomes part of a path.
  if (/^\w[\w-]*$/.test(id) && existsSync(join(folder, 'discovery.json'))) return folder;
  throw new Error(
    `There is no search "${id}" in ${homePaths().discoveries}. It may have been removed: go back to the list.`,
  );
}

export async function readKept(folder: string): Promise<KeptSearch> {
  const search = await readSearch(folder);
  return { folder, search, progress: progressOf(search, await readLines(folder)) };
}

/** Pools that were read lately: a page asks for the same one again after each round. */
export class KeptPools {
  readonly #read = new Map<string, KeptPool>();
  readonly #most = 2;

  /** @returns null before the search has read its pool */
  async read(folder: string): Promise<KeptPool | null> {
    const known = this.#read.get(folder);
    if (known !== undefined) return known;
    const pool = await unlessMissing(readPoolDescription(folder));
    if (pool === null) return null;
    const { tensors } = await readTensors(folder, join(poolFolder, poolFiles.targets), ['targets']);
    const targets = tensors.get('targets')?.data ?? new Float32Array(0);
    const [oldest] = this.#read.keys();
    if (this.#read.size >= this.#most) this.#read.delete(oldest);
    this.#read.set(folder, { pool, targets });
    return { pool, targets };
  }
}
