import { createReadStream } from 'node:fs';
import { basename, join } from 'node:path';
import { app, type BrowserWindow, dialog, type Session } from 'electron';
import { endingsWith } from '../../core/preprocessing/data-formats.ts';
import { openFolderChannel, saveFileChannel } from '../../core/protocol/pages/window.ts';
import { runFileEnding } from '../../core/protocol/pages/run-data.ts';
import { replaceFile } from '../../core/node/atomic-file.ts';
import { isDirectlyIn } from '../../core/node/same-folder.ts';
import { isOwnPage } from './windows/page-messages.ts';

/** Without the point. A table may be packed. */
const tableEndings = [...endingsWith('table').map((ending) => ending.slice(1)), 'gz', 'zip'];

/** Serves the system's dialogs to the window's page. */
export function serveDialogs(window: BrowserWindow, exportFolder: string): void {
  const { ipc } = window.webContents;
  ipc.handle(openFolderChannel, (event) => {
    if (!isOwnPage(window, event)) throw new Error("Only the window's own page may open folders.");
    return chooseFolder(window);
  });
  ipc.handle(saveFileChannel, async (event, exported: unknown) => {
    if (!isOwnPage(window, event)) throw new Error("Only the window's own page may save files.");
    if (typeof exported !== 'string' || !isDirectlyIn(exported, exportFolder)) {
      throw new Error(`${String(exported)} is not an export: only files in ${exportFolder} can be saved elsewhere.`);
    }
    const { canceled, filePath } = await dialog.showSaveDialog(window, { defaultPath: basename(exported) });
    if (canceled) return null;
    await copyDurably(exported, filePath);
    return filePath;
  });
}

/** Asks where to save what a page downloads, such as the picture of a chart. */
export function serveDownloads(session: Session): void {
  session.on('will-download', (_event, item) => {
    const defaultPath = join(app.getPath('downloads'), item.getFilename());
    item.setSaveDialogOptions({ title: `Save ${item.getFilename()}`, defaultPath });
  });
}

/** @returns the folder of a project; null if the user cancels */
export async function chooseFolder(window: BrowserWindow): Promise<string | null> {
  const { filePaths } = await dialog.showOpenDialog(window, {
    title: 'Open the folder of a project or a run',
    properties: ['openDirectory'],
  });
  return filePaths[0] ?? null;
}

/** @returns a file of data; null if the user cancels */
export async function chooseData(window: BrowserWindow): Promise<string | null> {
  const { filePaths } = await dialog.showOpenDialog(window, {
    title: 'New project from a table',
    filters: [{ name: 'Tables', extensions: tableEndings }],
    properties: ['openFile'],
  });
  return filePaths[0] ?? null;
}

/** @returns an exported run; null if the user cancels */
export async function chooseExport(window: BrowserWindow): Promise<string | null> {
  const { filePaths } = await dialog.showOpenDialog(window, {
    title: 'Import a run',
    filters: [{ name: 'Exported runs', extensions: [runFileEnding.slice(1), 'zip'] }],
    properties: ['openFile'],
  });
  return filePaths[0] ?? null;
}

/** Asks for confirmation before quitting interrupts runs. @returns whether to quit */
export async function confirmQuitting(window: BrowserWindow | null, runCount: number): Promise<boolean> {
  const options = {
    type: 'warning' as const,
    message: `${runCount === 1 ? 'A run is' : `${runCount} runs are`} still training.`,
    detail:
      'Quitting Tutti interrupts training. Runs can be resumed later from their last saved state. Training ' +
      'continues if you only close the window.',
    buttons: ['Keep training', 'Interrupt and quit'],
    defaultId: 0,
    cancelId: 0,
  };
  const { response } = await (window === null
    ? dialog.showMessageBox(options)
    : dialog.showMessageBox(window, options));
  return response === 1;
}

async function copyDurably(from: string, to: string): Promise<void> {
  await replaceFile(to, (handle) => handle.writeFile(createReadStream(from)));
}
