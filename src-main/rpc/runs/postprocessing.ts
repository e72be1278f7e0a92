import { join } from 'node:path';
import { z } from 'zod';
import { unlessMissing } from '../../../core/node/file-error.ts';
import { type Postprocessing, postprocessingPath, postprocessingSchema } from '../../../core/postprocessing/schema.ts';
import type { HubParts } from '../../hub/run-feed.ts';
import { readOwnText } from '../../store/runs/own-files.ts';

const sets = ['ensemble-best', 'member-best', 'final'] as const;

/**
 * What was fitted for the sets of a run, in this order of the sets.
 *
 * @throws Error that names the file if it is damaged
 */
export async function readPostprocessing({ hub }: Pick<HubParts, 'hub'>, id: string): Promise<Postprocessing[]> {
  const { folder } = await hub.find(id);
  const found = await Promise.all(sets.map((set) => readFitted(folder, postprocessingPath(set))));
  return found.filter((fitted) => fitted !== null);
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
