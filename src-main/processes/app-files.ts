import { existsSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const archive = `${sep}app.asar${sep}`;

/**
 * The path at which a process other than Electron's can read a file of the app. The packaged app is one archive that only Electron can
 * read; files for other processes are beside it (`asarUnpack` in `electron-builder.config.ts`).
 */
export function unpacked(path: string): string {
  return path.replace(archive, `${sep}app.asar.unpacked${sep}`);
}

/** The absolute path of a file of the app, given its path in the repository: two folders up from here and from the build in `out/main`. */
export function appFile(path: string): string {
  return unpacked(fileURLToPath(new URL(`../../${path}`, import.meta.url)));
}

/** Why workers cannot map files into memory on this machine; null if they can. */
export function whyNotMapped(platform: NodeJS.Platform = process.platform): string | null {
  if (platform === 'win32') return 'Data are not shared between processes on Windows yet.';
  if (existsSync(appFile('node_modules/koffi'))) return null;
  return 'Sharing data needs the package koffi, which maps files into memory and is not installed (npm ci --include=optional does).';
}
