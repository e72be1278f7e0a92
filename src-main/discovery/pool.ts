import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { PoolFeatures } from '../../core/discovery/distances.ts';
import type { Search } from '../../core/discovery/search.ts';
import { readOwnText } from '../../core/node/own-files.ts';
import { makeOwnFolder } from '../../core/node/own-folders.ts';
import { type Pool, poolFiles, poolSchema, type PoolReply, type PoolTask } from '../../core/protocol/run/pool-task.ts';
import { askProcess } from '../processes/standing-process.ts';
import { readPoolEntry } from '../processes/node-process.ts';
import { dataFolders } from '../store/home.ts';
import { readTensors, type StoredTensor } from '../store/runs/safetensors-reader.ts';
import { grantFor } from '../trust/grant.ts';
import { requireTrust } from '../trust/project-trust.ts';
import { poolFolder, searchPaths } from './search-folder.ts';

/** Reading a pool may download it and compute fingerprints. */
const timeoutMs = 3_600_000;

/** The candidates of a search. */
export interface OpenedPool {
  pool: Pool;
  /** The targets that the project's data give, hidden until the oracle is asked for them; shape `[N]`. */
  targets: Float32Array | Int32Array;
  /** Null unless batches compare candidates. */
  features: PoolFeatures | null;
}

/**
 * The pool of a search, read from the project where that has not been done, in a process that gets what the project's
 * processes get.
 */
export async function openPool(folder: string, search: Search): Promise<OpenedPool> {
  const withFeatures = ['centres', 'clusters'].includes(search.acquisition.batch);
  const known = join(searchPaths(folder).pool, poolFiles.description);
  if (!existsSync(known)) await readProjectPool(folder, search, withFeatures);
  const pool = await readPoolDescription(folder);
  const { tensors } = await readTensors(folder, join(poolFolder, poolFiles.targets));
  const targets = tensors.get('targets')?.data;
  const features = withFeatures ? featuresOf(tensors, pool, search) : null;
  if (targets?.length !== pool.samples || (withFeatures && features === null)) {
    throw new Error(
      `${poolFiles.targets} in ${searchPaths(folder).pool} does not fit ${poolFiles.description} beside it. ` +
        'Restore both from a copy, or begin another search.',
    );
  }
  return { pool, targets, features };
}

/** @throws Error with the code `ENOENT` before the search has read its pool */
export async function readPoolDescription(folder: string): Promise<Pool> {
  return poolSchema.parse(JSON.parse(await readOwnText(folder, join(poolFolder, poolFiles.description))));
}

function featuresOf(
  tensors: ReadonlyMap<string, StoredTensor>,
  { featureShape }: Pool,
  { acquisition: { distance } }: Search,
): PoolFeatures | null {
  const width = featureShape.reduce((size, dimension) => size * dimension, 1);
  const bits = tensors.get('bits')?.data;
  if (bits !== undefined) {
    return { width, values: new Uint8Array(bits.buffer, bits.byteOffset, bits.byteLength), isPacked: true, distance };
  }
  const values = tensors.get('features')?.data;
  return values === undefined ? null : { width, values: values as Float32Array, distance };
}

async function readProjectPool(folder: string, { project, config }: Search, withFeatures: boolean): Promise<void> {
  const output = searchPaths(folder).pool;
  await makeOwnFolder(folder, poolFolder);
  const task: PoolTask = {
    projectFolder: requireTrust(project.folder),
    dataFolders: dataFolders(),
    config,
    output,
    withFeatures,
  };
  const reply = await askProcess<PoolReply>({
    entry: readPoolEntry,
    args: [],
    grant: grantFor({ project: project.folder, write: [output] }),
    // Fingerprints of many molecules are computed by threads.
    needsThreads: true,
    message: task,
    timeoutMs,
    subject: `The pool of the project "${project.name}" could not be read`,
  });
  if (reply.type === 'failed') throw new Error(reply.message);
}
