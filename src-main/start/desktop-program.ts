import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { out } from '../built/build.ts';
import { appFile } from '../processes/app-files.ts';

/** The command that opens the window: the packaged app, or Electron with the built app; null if neither is there. */
export function findDesktop(): [string, ...string[]] | null {
  const packaged = packagedProgram(appFile('.'), process.platform);
  if (packaged !== null) return existsSync(packaged) ? [packaged] : null;
  const electron = findElectron();
  return electron === null ? null : [electron, join(out, 'main', 'electron.js')];
}

/**
 * The program of a packaged app; null where Tutti runs from its sources or from npm.
 * @param folder what lies beside the app's archive
 */
export function packagedProgram(folder: string, platform: NodeJS.Platform): string | null {
  if (basename(folder) !== 'app.asar.unpacked') return null;
  const contents = join(folder, '../..');
  if (platform === 'darwin') return join(contents, 'MacOS', 'Tutti');
  return join(contents, platform === 'win32' ? 'Tutti.exe' : 'tutti-desktop');
}

/**
 * Electron's binary; null if it was never downloaded, or Electron is not installed. The package itself must not be
 * imported here: that would start the download, which never ends if its host cannot be reached.
 */
function findElectron(): string | null {
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
