import { readOwnBytes } from '../../core/node/own-files.ts';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { EnsembleDescription } from '../../core/ensemble/schema.ts';
import { describeEnsemble } from '../../core/node/describe-ensemble.ts';
import { checkpointRecordSchema } from '../../core/protocol/run/record.ts';
import { type BackendKind, startBackend } from '../backends/backend.ts';
import { readSealed } from '../checkpoints/sealed-file.ts';
import { tf } from '../tensorflow/tf.ts';
import { assembleEnsemble, type EnsembleFiles, readDescription } from './assemble.ts';
import type { Ensemble } from './ensemble.ts';

/** How to open an ensemble. */
export interface OpenEnsembleOptions {
  /**
   * Of a run's folder: the name of the checkpoints; by default the first of `ensemble-best`, `member-best` and `final`
   * that all members have.
   */
  set?: string;
  /** Computes the predictions; by default the backend that this process uses, or else `wasm`. */
  backend?: BackendKind;
}

/** Builds models of layers that only the project's code has. */
export type BuildModel = Pick<EnsembleFiles, 'buildModel'>;

/**
 * Opens a trained ensemble, from a run's folder or from what `tutti export --format ensemble` wrote. Models are built
 * from the architectures that the run kept. For a model with layers of your own, register their classes first:
 * `tf.serialization.registerClass(MyLayer)`.
 * @throws Error that names the file that is missing or damaged, and the sets that there are
 */
export async function openEnsemble(
  folder: string,
  { set, backend, buildModel }: OpenEnsembleOptions & BuildModel = {},
): Promise<Ensemble> {
  const path = resolve(folder);
  const files = folderFiles(path);
  const description = await describeFolder(files, path, set);
  if (backend !== undefined || tf.engine().backendName === undefined) await startBackend(backend ?? 'auto');
  return assembleEnsemble({ ...files, ...(buildModel && { buildModel }) }, description);
}

/** The description of an exported ensemble, or of a set of a run's checkpoints. */
async function describeFolder(files: EnsembleFiles, folder: string, set?: string): Promise<EnsembleDescription> {
  if (!files.isExported) return describeEnsemble(folder, set);
  const description = await readDescription(files);
  if (set === undefined || set === description.set) return description;
  throw new Error(`${folder} holds the set ${description.set} alone: leave out the name, or open the run's folder.`);
}

/** The files of an ensemble in a folder. */
export function folderFiles(folder: string): EnsembleFiles {
  return {
    place: folder,
    isExported: existsSync(join(folder, 'ensemble.json')),
    read: (path) => readOwn(join(folder, path)),
    sha256: (bytes) => Promise.resolve(createHash('sha256').update(bytes).digest('hex')),
  };
}

/** A checkpoint that was replaced when its process died may still have its other name. */
async function readOwn(path: string): Promise<Uint8Array> {
  const base = path.replace(/\.safetensors$/, '');
  const isCheckpoint = base !== path && existsSync(`${base}.json`);
  return isCheckpoint
    ? (await readSealed(base, checkpointRecordSchema)).content
    : readOwnBytes(dirname(path), basename(path));
}
