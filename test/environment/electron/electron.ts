import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { testHome } from '../test-home.ts';

/** The Electron that `npm run setup:electron-test` prepares. */
export const electronFolder = join(testHome, 'electron');
export const electronBinary = join(electronFolder, 'electron');

/** Why the tests of the desktop app cannot run in Electron here; null if they can. */
export function whyNoElectron(): string | null {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return `Electron for tests exists only for Linux on x64, this is ${process.platform} on ${process.arch}`;
  if (!existsSync(electronBinary)) return 'Electron is not set up: npm run setup:electron-test';
  const missing = ['Xvfb', 'dbus-daemon'].find((program) => !isOnPath(program));
  return missing === undefined ? null : `${missing} is not installed: apt-get install xvfb dbus (Debian)`;
}

function isOnPath(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
}
