import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

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
