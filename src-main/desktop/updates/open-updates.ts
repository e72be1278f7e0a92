import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { app } from 'electron';
import { homePaths } from '../../store/home.ts';
import { readUpdateSettings, writeUpdateSettings } from './update-settings.ts';
import { type Updater, Updates, type UpdatesParts } from './updates.ts';

/** Opens what looks for updates; null for an app that was packaged without an address for them (`TUTTI_UPDATE_URL`). */
export async function openUpdates(
  parts: Pick<UpdatesParts, 'work' | 'changed' | 'ready' | 'onError'>,
): Promise<Updates | null> {
  // electron-builder writes it, with the address.
  if (!app.isPackaged || !existsSync(join(process.resourcesPath, 'app-update.yml'))) return null;
  const path = homePaths().updates;
  const settings = await readUpdateSettings(path);
  return new Updates({
    ...parts,
    updater: await openUpdater(),
    settings,
    save: (changed) => writeUpdateSettings(path, changed),
  });
}

async function openUpdater(): Promise<Updater> {
  const { default: updater } = await import('electron-updater');
  const { autoUpdater, CancellationToken } = updater;
  autoUpdater.autoDownload = false;
  autoUpdater.autoInstallOnAppQuit = false;
  // Its errors are those of the calls below.
  autoUpdater.on('error', () => undefined);
  return {
    async check() {
      const result = await autoUpdater.checkForUpdates();
      return result?.isUpdateAvailable === true ? result.updateInfo.version : null;
    },
    async download(signal) {
      const token = new CancellationToken();
      signal.addEventListener('abort', () => token.cancel());
      await autoUpdater.downloadUpdate(token);
    },
    install: () => autoUpdater.quitAndInstall(),
  };
}
