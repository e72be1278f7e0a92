import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * Path of Electron's binary; null if it was never downloaded, or Electron is not installed. The package itself must not be imported here: that would start
 * the download, which never ends if its host cannot be reached.
 */
export function findElectron(): string | null {
  const folder = electronFolder();
  if (folder === null) return null;
  const pathFile = join(folder, 'path.txt');
  if (!existsSync(pathFile)) return null;
  const binary = join(folder, 'dist', readFileSync(pathFile, 'utf8').trim());
  return existsSync(binary) ? binary : null;
}

function electronFolder(): string | null {
  try {
    return dirname(createRequire(import.meta.url).resolve('electron/package.json'));
  } catch {
    return null;
  }
}
