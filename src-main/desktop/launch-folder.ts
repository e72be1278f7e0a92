import { resolve } from 'node:path';
import { z } from 'zod';

/** What a second start of the app hands to the first. */
const launchSchema = z.object({ folder: z.string().min(1).nullable() });

/** The folder that the app was started with: by hand, by the system's list of recent documents; null without one. */
export function launchFolder(argv: readonly string[], isPackaged: boolean, workingFolder: string): string | null {
  // From its sources, Electron's own first argument is the app.
  const given = argv.slice(isPackaged ? 1 : 2).find((argument) => !argument.startsWith('-'));
  return given === undefined ? null : resolve(workingFolder, given);
}

/** @throws when another program than Tutti holds the same lock */
export function readLaunch(data: unknown): string | null {
  return launchSchema.parse(data).folder;
}
