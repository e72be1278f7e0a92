import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { writeFileAtomic } from '../../core/node/atomic-file.ts';
import { unlessMissing } from '../../core/node/file-error.ts';
import { toJson } from '../../core/protocol/wire/numbers.ts';
import { homePaths } from '../store/home.ts';

const quotaSchema = z.strictObject({ format: z.literal(1), quotaBytes: z.number().positive().nullable() });

/** The bytes of all runs above which pages advise to clean up; null: no advice. @throws Error if its file is damaged */
export async function readQuota(): Promise<number | null> {
  const { diskQuota } = homePaths();
  const text = await unlessMissing(readFile(diskQuota, 'utf8'));
  if (text === null) return null;
  try {
    return quotaSchema.parse(JSON.parse(text)).quotaBytes;
  } catch (error) {
    throw new Error(`${diskQuota} is damaged: ${String(error)}. Remove it, and set the quota again.`, { cause: error });
  }
}

export async function writeQuota(quotaBytes: number | null): Promise<void> {
  await writeFileAtomic(homePaths().diskQuota, `${toJson({ format: 1, quotaBytes })}\n`);
}
