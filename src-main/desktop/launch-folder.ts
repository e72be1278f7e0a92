import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** The data that a second start of the app passes to the first. */
const launchSchema = z.object({ folder: z.string().min(1).nullable() });

/**
 * The folder argument of the app, from the command line or the system's list of recent documents; null if there is
 * none.
 */
export function launchFolder(argv: readonly string[], isPackaged: boolean, workingFolder: string): string | null {
  // When run from its sources, the first argument besides flags is the app.
  const given = argv
    .slice(1)
    .filter((argument) => !argument.startsWith('-'))
    .at(isPackaged ? 0 : 1);
  if (given === undefined) return null;
  // File managers give addresses (`%U` in the desktop entry).
  return given.startsWith('file:') ? fileURLToPath(given) : resolve(workingFolder, given);
}

/** @throws Error if a program other than Tutti holds the same lock */
export function readLaunch(data: unknown): string | null {
  return launchSchema.parse(data).folder;
}
