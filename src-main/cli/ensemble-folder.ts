import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { orUsageError } from './errors.ts';
import { withHub } from './open-hub.ts';

/** The folder of an exported ensemble, or of a run that is named by its id, name or folder. */
export async function ensembleFolder(run: string): Promise<string> {
  const folder = resolve(run);
  if (existsSync(join(folder, 'ensemble.json'))) return folder;
  return withHub(async (hub) => (await orUsageError(hub.find(run))).folder);
}
