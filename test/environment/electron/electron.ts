import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { testHome } from '../test-home.ts';

/** The Electron that `npm run setup:electron-test` prepares. */
export const electronFolder = join(testHome, 'electron');
export const electronBinary = join(electronFolder, 'electron');

/** Why the tests of the desktop app cannot run in Electron here; null if they can. */
export function whyNoElectron(): string | null {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return `Electron for tests exists only for Linux on x64, this is ${process.platform} on ${process.arch}`;
  if (!existsSync(electronBinary)) return 'Electron is not set up: npm run setup:electron-test';
  return null;
}
