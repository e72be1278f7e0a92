import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { asError, messageOf } from '../../../core/text/errors.ts';
import type { CheckpointKey } from '../../../core/protocol/run/checkpoint-tasks.ts';
import { type CheckpointRecord, checkpointRecordSchema } from '../../../core/protocol/run/record.ts';
import { errorCode, explainFileError } from '../../../core/node/file-error.ts';
import { readOwnText } from '../../../core/node/folders/own-files.ts';
import { runPaths } from './run-folder.ts';

/**
 * The records of a run's checkpoints, by rank, then by time. Skips those that are removed meanwhile.
 * @param onDamage called with the error of each damaged record, which is then skipped; without it the first one throws
 */
export async function readCheckpointRecords(
  folder: string,
  onDamage: (damage: Error) => void = raise,
): Promise<CheckpointRecord[]> {
  const { checkpoints } = runPaths(folder);
  const names = await readdir(checkpoints, { recursive: true }).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') onDamage(asError(explainFileError(error, checkpoints, 'read')));
    return [];
  });
  const paths = names
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => join(checkpoints, name));
  const found = await Promise.all(paths.map(readRecord));
  const records = found.flatMap((record) => {
    if (record instanceof Error) onDamage(record);
    return record === null || record instanceof Error ? [] : [record];
  });
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

/** @returns null if the file is gone, an error with the file and the reason if it is damaged */
async function readRecord(path: string): Promise<CheckpointRecord | Error | null> {
  try {
    return checkpointRecordSchema.parse(JSON.parse(await readOwnText(dirname(path), basename(path))));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    if (errorCode(error) !== null) return asError(explainFileError(error, path, 'read'));
    const reason = error instanceof z.ZodError ? z.prettifyError(error).replaceAll(/\s+/g, ' ') : messageOf(error);
    return new Error(
      `${path} is damaged, so its checkpoint is not listed: ${reason}. Restore it from a copy, or remove it together with its weights.`,
      { cause: error },
    );
  }
}

function raise(error: Error): never {
  throw error;
}
