import { resolve } from 'node:path';
import { z } from 'zod';

/** The data that a second start of the app passes to the first. */
const launchSchema = z.object({ folder: z.string().min(1).nullable() });

/** The folder argument of the app, from the command line or the system's list of recent documents; null if there is none. */
export function launchFolder(argv: readonly string[], isPackaged: boolean, workingFolder: string): string | null {
  // When run from its sources, Electron's first argument is the app.
  const given = argv.slice(isPackaged ? 1 : 2).find((argument) => !argument.startsWith('-'));
  return given === undefined ? null : resolve(workingFolder, given);
}

/** @throws Error if a program other than Tutti holds the same lock */
export function readLaunch(data: unknown): string | null {
  return launchSchema.parse(data).folder;
}
