import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { CheckpointKey } from '../../../core/protocol/run/checkpoint-tasks.ts';
import { type CheckpointRecord, checkpointRecordSchema } from '../../../core/protocol/run/record.ts';
import { errorCode, explainFileError } from '../../../core/node/file-error.ts';
import { readOwnText } from './own-files.ts';
import { runPaths } from './run-folder.ts';

/** The records of a run's checkpoints, by rank, then by time. Skips those that are removed meanwhile. */
export async function readCheckpointRecords(folder: string): Promise<CheckpointRecord[]> {
  const { checkpoints } = runPaths(folder);
  const names = await readdir(checkpoints, { recursive: true }).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw explainFileError(error, checkpoints, 'read');
  });
  const paths = names.filter((name) => name.endsWith('.json')).map((name) => join(checkpoints, name));
  const records = (await Promise.all(paths.map(readRecord))).filter((record) => record !== null);
  return records.sort((a, b) => a.rank - b.rank || a.epoch - b.epoch || a.step - b.step);
}

/**
 * The files that a checkpoint may have. The record comes first, because the other files are invalid without it: they are deleted in
 * this order and restored in the reverse order.
 */
export function checkpointFiles(folder: string, { rank, name }: CheckpointKey): string[] {
  const base = join(runPaths(folder).checkpoints, `rank-${rank}`, name);
  return [`${base}.json`, `${base}.safetensors.next`, `${base}.safetensors`];
}

async function readRecord(path: string): Promise<CheckpointRecord | null> {
  try {
    return checkpointRecordSchema.parse(JSON.parse(await readOwnText(dirname(path), basename(path))));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
