import { join } from 'node:path';
import { z } from 'zod';
import { asError, messageOf } from '../../../core/text/errors.ts';
import type { CheckpointKey } from '../../../core/protocol/run/checkpoint-tasks.ts';
import { type CheckpointRecord, checkpointRecordSchema } from '../../../core/protocol/run/record.ts';
import { errorCode, unlessMissing } from '../../../core/node/file-error.ts';
import { ForeignEntryError, readOwnText } from '../../../core/node/own-files.ts';
import { listOwnFolder } from '../../../core/node/own-folders.ts';
import { runPaths } from './run-folder.ts';
import { type Postprocessing, postprocessingSchema } from '../../../core/postprocessing/schema.ts';

/**
 * The records of a run's checkpoints, by rank, then by time. Skips those that are removed meanwhile.
 * @param onDamage called with the error of each damaged record, which is then skipped; without it the first one throws
 */
export async function readCheckpointRecords(
  folder: string,
  onDamage: (damage: Error) => void = raise,
): Promise<CheckpointRecord[]> {
  const entries = await listOwnFolder(folder, 'checkpoints', { isDeep: true }).catch((error: unknown) => {
    onDamage(asError(error));
    return [];
  });
  const paths = entries.map(({ path }) => path).filter((path) => path.endsWith('.json'));
  const found = await Promise.all(paths.map((path) => readRecord(folder, path)));
  const records = found.flatMap((record) => {
    if (record instanceof Error) onDamage(record);
    return record === null || record instanceof Error ? [] : [record];
  });
  return records.sort((a, b) => a.rank - b.rank || a.epoch - b.epoch || a.step - b.step);
}

/**
 * The files that a checkpoint may have. The record comes first, because the other files are invalid without it: they
 * are deleted in this order and restored in the reverse order.
 */
export function checkpointFiles(folder: string, { rank, name }: CheckpointKey): string[] {
  const base = join(runPaths(folder).checkpoints, `rank-${rank}`, name);
  return [`${base}.json`, `${base}.safetensors.next`, `${base}.safetensors`];
}

/** @returns null if the file is gone, an error with the file and the reason if it is damaged */
async function readRecord(folder: string, path: string): Promise<CheckpointRecord | Error | null> {
  try {
    return checkpointRecordSchema.parse(JSON.parse(await readOwnText(folder, path)));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    if (errorCode(error) !== null || error instanceof ForeignEntryError) return asError(error);
    const reason = error instanceof z.ZodError ? z.prettifyError(error).replaceAll(/\s+/g, ' ') : messageOf(error);
    return new Error(
      `${join(folder, path)} is damaged, so its checkpoint is not listed: ${reason}. Restore it from a copy, ` +
        'or remove it together with its weights.',
      { cause: error },
    );
  }
}

function raise(error: Error): never {
  throw error;
}

/** What was fitted for one set; null if the file is absent. @throws Error that names the file if it is damaged */
export async function readFitted(folder: string, path: string): Promise<Postprocessing | null> {
  const text = await unlessMissing(readOwnText(folder, path));
  if (text === null) return null;
  try {
    return postprocessingSchema.parse(JSON.parse(text));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Error(
      `${join(folder, path)} is damaged: ${reason}\nFit it again with \`tutti calibrate\`, or delete it.`,
      {
        cause: error,
      },
    );
  }
}
