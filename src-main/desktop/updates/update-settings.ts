import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { writeFileAtomic } from '../../../core/node/atomic-file.ts';
import { unlessMissing } from '../../../core/node/file-error.ts';
import { messageOf } from '../../../core/text/errors.ts';

const settingsSchema = z.strictObject({
  /** Whether Tutti looks for updates. */
  isEnabled: z.boolean(),
  /** When it looked last; null: never. */
  checkedAt: z.iso.datetime().nullable(),
});
export type UpdateSettings = z.output<typeof settingsSchema>;

/** The settings of updates; off where there are none. @throws Error with the remedy if the file is damaged */
export async function readUpdateSettings(path: string): Promise<UpdateSettings> {
  const text = await unlessMissing(readFile(path, 'utf8'));
  if (text === null) return { isEnabled: false, checkedAt: null };
  try {
    return settingsSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`${path} is damaged (${messageOf(cause)}). Remove it: Tutti then looks for no updates.`, { cause });
  }
}

export async function writeUpdateSettings(path: string, settings: UpdateSettings): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(settings, null, 2)}\n`);
}
