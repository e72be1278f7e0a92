import { accessSync, constants, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const archive = `${sep}app.asar${sep}`;

/**
 * The path at which a process other than Electron's can read a file of the app. The packaged app is one archive that
 * only Electron can read; files for other processes are beside it (`asarUnpack` in `electron-builder.config.ts`).
 */
export function unpacked(path: string): string {
  return path.replace(archive, `${sep}app.asar.unpacked${sep}`);
}

/**
 * The absolute path of a file of the app, given its path in the repository: two folders up from here, from the build in
 * `out/main` and from the package's `src-main/bundle`.
 */
export function appFile(path: string): string {
  return unpacked(fileURLToPath(new URL(`../../${path}`, import.meta.url)));
}

/**
 * The file of a program that other processes run, by its path without extension: TypeScript in the sources, JavaScript
 * in the package. The variable `TUTTI_PROGRAMS` names a folder with compiled programs of workers to run instead: most
 * tests with real processes do, because they start in less time.
 */
export function entryFile(path: string): string {
  const compiled = process.env.TUTTI_PROGRAMS;
  if (compiled && path.startsWith('workers/')) return join(compiled, `${path}.js`);
  const source = appFile(`${path}.ts`);
  return existsSync(source) ? source : appFile(`${path}.js`);
}

/** Why workers cannot map files into memory on this machine; null if they can. */
export function whyNotMapped(platform: NodeJS.Platform = process.platform): string | null {
  if (platform === 'win32') return 'Data are not shared between processes on Windows yet.';
  if (isInstalled('koffi')) return null;
  return (
    'Sharing data needs the package koffi, which maps files into memory and is not installed (npm ci ' +
    '--include=optional does).'
  );
}

/** A package may lie in Tutti's own `node_modules`, or in one above, beside Tutti. */
function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** Browsers that can show a page in a window without tabs and address bar (`--app`). */
const names = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'microsoft-edge',
  'brave-browser',
];

export function hasDisplay(environment: NodeJS.ProcessEnv = process.env): boolean {
  const { DISPLAY, WAYLAND_DISPLAY } = environment;
  return process.platform !== 'linux' || Boolean(DISPLAY ?? WAYLAND_DISPLAY);
}

/** A Chromium on the PATH, if there is a display for its window. */
export function findAppBrowser(environment: NodeJS.ProcessEnv = process.env): string | null {
  if (!hasDisplay(environment)) return null;
  const folders = (environment.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
