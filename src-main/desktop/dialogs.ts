import { copyFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { type BrowserWindow, dialog, ipcMain } from 'electron';
import { openFolderChannel, saveFileChannel } from '../../protocol/window.ts';
import { isOwnPage } from './page-messages.ts';

/** The system's own dialogs, for the window's page. */
export function serveDialogs(window: BrowserWindow, exportFolder: string): void {
  ipcMain.handle(openFolderChannel, async (event) => {
    if (!isOwnPage(window, event)) throw new Error('Only the page of the window itself may open folders.');
    const { filePaths } = await dialog.showOpenDialog(window, { properties: ['openDirectory'] });
    return filePaths[0] ?? null;
  });
  ipcMain.handle(saveFileChannel, async (event, exported: unknown) => {
    if (!isOwnPage(window, event)) throw new Error('Only the page of the window itself may save files.');
    if (typeof exported !== 'string' || dirname(resolve(exported)) !== exportFolder) {
      throw new Error(`${String(exported)} is no export: only files in ${exportFolder} can be saved elsewhere.`);
    }
    const { filePath } = await dialog.showSaveDialog(window, { defaultPath: basename(exported) });
    if (filePath === '') return null;
    await copyFile(exported, filePath);
    return filePath;
  });
}

/** Asks before runs end with the window. @returns whether to close it */
export function confirmClosing(window: BrowserWindow, runCount: number): boolean {
  const runs = runCount === 1 ? 'A run is' : `${runCount} runs are`;
  const choice = dialog.showMessageBoxSync(window, {
    type: 'warning',
    message: `${runs} still training.`,
    detail: 'Closing Tutti interrupts it now. It can be resumed later from its last saved state.',
    buttons: ['Keep training', 'Interrupt and close'],
    defaultId: 0,
    cancelId: 0,
  });
  return choice === 1;
}
