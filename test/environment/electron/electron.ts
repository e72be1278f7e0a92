import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isOnPath } from '../programs.ts';
import { testHome } from '../test-home.ts';

/** The Electron that `npm run setup:electron-test` prepares. */
export const electronFolder = join(testHome, 'electron');
export const electronBinary = join(electronFolder, 'electron');

/** Why the tests of the desktop app cannot run in Electron here; null if they can. */
export function whyNoElectron(): string | null {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return `Electron for tests exists only for Linux on x64, this is ${process.platform} on ${process.arch}`;
  if (!existsSync(electronBinary)) return 'Electron is not set up: npm run setup:electron-test';
  const missing = ['Xvfb', 'dbus-daemon'].find((program) => !isOnPath(program)) ?? missingLibrary();
  return missing === undefined ? null : `${missing} is not installed: apt-get install ${debianPackages} (Debian)`;
}

/** Without libnotify Electron shows no notification and says nothing. */
const libraries = ['libgtk-3.so.0', 'libnss3.so', 'libgbm.so.1', 'libasound.so.2', 'libnotify.so.4', 'libsqlite3.so.0'];
const debianPackages = 'xvfb dbus libgtk-3-0 libnss3 libgbm1 libasound2 libnotify4 libsqlite3-0';

function missingLibrary(): string | undefined {
  const known = execFileSync('/sbin/ldconfig', ['-p'], { encoding: 'utf8' });
  return libraries.find((library) => !known.includes(`\t${library} `));
}
