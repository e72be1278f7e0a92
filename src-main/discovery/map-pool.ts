import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Search } from '../../core/discovery/search.ts';
import { makeOwnFolder } from '../../core/node/own-folders.ts';
import { explainedSchema, type MapTask, poolFiles, type PoolReply } from '../../core/protocol/run/pool-task.ts';
import { askProcess } from '../processes/standing-process.ts';
import { mapPoolEntry } from '../processes/node-process.ts';
import { dataFolders } from '../store/home.ts';
import { readTensors } from '../store/runs/safetensors-reader.ts';
import { grantFor } from '../trust/grant.ts';
import { requireTrust } from '../trust/project-trust.ts';
import { poolFolder, searchPaths } from './search-folder.ts';

/** Reading the data may download it, and a pool of a million candidates is placed in minutes. */
const timeoutMs = 3_600_000;

/** Places of all N candidates, each of shape `[N, 2]`. */
export interface StoredMap {
  pca: ArrayLike<number>;
  umap: ArrayLike<number>;
  explained: [number, number];
}

/** The map of a search's pool; null before it was made. */
export async function readMap(folder: string): Promise<StoredMap | null> {
  if (!existsSync(join(searchPaths(folder).pool, poolFiles.map))) return null;
  const { tensors, metadata } = await readTensors(folder, join(poolFolder, poolFiles.map));
  return {
    pca: tensors.get('pca')?.data ?? [],
    umap: tensors.get('umap')?.data ?? [],
    explained: explainedSchema.parse(JSON.parse(metadata.explained)),
  };
}

/**
 * Makes the map, in a process that gets what the project's processes get.
 * @throws Error if the project is not trusted, or its data cannot be read
 */
export async function makeMap(folder: string, { project, config, seed }: Search, signal: AbortSignal): Promise<void> {
  const output = searchPaths(folder).pool;
  await makeOwnFolder(folder, poolFolder);
  const task: MapTask = {
    projectFolder: requireTrust(project.folder),
    dataFolders: dataFolders(),
    config,
    output,
    seed,
  };
  const reply = await askProcess<PoolReply>({
    entry: mapPoolEntry,
    args: [],
    grant: grantFor({ project: project.folder, write: [output] }),
    // Fingerprints of many molecules are computed by threads.
    needsThreads: true,
    message: task,
    timeoutMs,
    signal,
    subject: `The pool of the project "${project.name}" could not be mapped`,
  });
  if (reply.type === 'failed') throw new Error(reply.message);
}
