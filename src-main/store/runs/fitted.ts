import { join } from 'node:path';
import { z } from 'zod';
import { unlessMissing } from '../../../core/node/file-error.ts';
import { type Postprocessing, postprocessingSchema } from '../../../core/postprocessing/schema.ts';
import { readOwnText } from '../../../core/node/own-files.ts';

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
