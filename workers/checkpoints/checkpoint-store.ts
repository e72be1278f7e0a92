import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type CheckpointRecord, checkpointRecordSchema } from '../../core/protocol/run/record.ts';
import { errorCode, unlessMissing } from '../../core/node/file-error.ts';
import { decodeSafetensors, encodeSafetensors, type NamedTensor } from '../../core/safetensors/safetensors.ts';
import { sealOf } from './seal.ts';
import { readRecord, readSealed, removeSealed, writeSealed } from './sealed-file.ts';

/**
 * A run's checkpoints: `<run>/checkpoints/rank-<r>/<name>.safetensors` with a record `<name>.json`
 * ({@link CheckpointRecord}). `sealed-file.ts` replaces the two together.
 */

export type CheckpointToSave = Pick<
  CheckpointRecord,
  'rank' | 'name' | 'epoch' | 'step' | 'monitor' | 'score' | 'model'
> & {
  tensors: readonly NamedTensor[];
};

export interface Checkpoint {
  record: CheckpointRecord;
  tensors: NamedTensor[];
}

/**
 * Saves a checkpoint into a run's folder, in place of one with the same rank and name. Equal tensors give equal files.
 *
 * @throws with path, bytes and remedy (disk full, no permission); the previous checkpoint stays readable.
 */
export async function saveCheckpoint(runFolder: string, checkpoint: CheckpointToSave): Promise<CheckpointRecord> {
  const { tensors, ...description } = checkpoint;
  const content = encodeSafetensors(tensors);
  const record: CheckpointRecord = {
    format: 1,
    ...description,
    ...sealOf(content),
    savedAt: new Date().toISOString(),
  };
  await writeSealed(checkpointBase(runFolder, checkpoint.rank, checkpoint.name), content, record);
  return record;
}

/**
 * Reads a checkpoint after checking its size and SHA-256.
 *
 * @throws with the file, the expected and the found content, and the remedy.
 */
export async function readCheckpoint(runFolder: string, rank: number, name: string): Promise<Checkpoint> {
  const base = checkpointBase(runFolder, rank, name);
  try {
    const { record, content } = await readSealed(base, checkpointRecordSchema);
    return { record, tensors: decodeSafetensors(content).tensors };
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    const names = (await checkpointsOf(runFolder, rank)).map(({ name }) => name);
    throw new Error(
      `Rank ${rank} has no checkpoint "${name}" (${base}.json is missing). ` +
        (names.length > 0 ? `It has: ${names.join(', ')}.` : 'It has none. Was the run started with checkpoints on?'),
      { cause: error },
    );
  }
}

/** Whether a checkpoint was written, whole or not. */
export function hasCheckpoint(runFolder: string, rank: number, name: string): boolean {
  return existsSync(`${checkpointBase(runFolder, rank, name)}.json`);
}

/**
 * The records of a rank's checkpoints, by name, without their data. Leaves out those that cannot be read: they stay on
 * the disk for the user to restore, and the hub names them when the run is resumed.
 */
export async function checkpointsOf(runFolder: string, rank: number): Promise<CheckpointRecord[]> {
  const folder = join(runFolder, 'checkpoints', `rank-${rank}`);
  const paths = (await namesIn(folder)).filter((name) => name.endsWith('.json')).map((name) => join(folder, name));
  const found = await Promise.allSettled(paths.map((path) => readRecord(path, checkpointRecordSchema)));
  const records = found.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  return records.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Removes a checkpoint, if it exists. */
export async function removeCheckpoint(runFolder: string, rank: number, name: string): Promise<void> {
  await removeSealed(checkpointBase(runFolder, rank, name));
}

/** Path of a checkpoint's two files, without extension. @throws when it could not name a file */
export function checkpointBase(runFolder: string, rank: number, name: string): string {
  // No dots or separators: a name must stay in its folder and have no extension.
  if (!/^[\w-]+$/.test(name)) {
    throw new Error(`"${name}" cannot name a checkpoint: use letters, digits, "-" and "_", as in "ensemble-best".`);
  }
  return join(runFolder, 'checkpoints', `rank-${rank}`, name);
}

async function namesIn(folder: string): Promise<string[]> {
  return (await unlessMissing(readdir(folder))) ?? [];
}
