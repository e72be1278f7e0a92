import { fileURLToPath } from 'node:url';
import { app, BrowserWindow, ipcMain, session } from 'electron';
import { runListChannel, runsChangedChannel } from '../protocol/window.ts';
import { Hub } from './hub.ts';
import { RunList } from './run-list.ts';

/** The door from the desktop, built to `out/main`: one window, which reaches the hub by calls within the app. */

const page = fileURLToPath(new URL('../renderer/index.html', import.meta.url));
const preload = fileURLToPath(new URL('../preload/preload.cjs', import.meta.url));

app.on('web-contents-created', (_event, contents) => {
  contents.on('will-navigate', (event) => event.preventDefault());
  contents.setWindowOpenHandler(() => ({ action: 'deny' }));
});
app.on('window-all-closed', () => app.quit());
// Not awaited here: Electron becomes ready only after this module has been evaluated.
app.whenReady().then(openWindow).catch(giveUp);

async function openWindow(): Promise<void> {
  session.defaultSession.setPermissionRequestHandler((_contents, _permission, decide) => decide(false));
  const hub = await Hub.open();
  const runs = new RunList(hub, (error) => console.error(error));
  const window = new BrowserWindow({
    width: 1280,
    height: 800,
    title: 'Tutti',
    webPreferences: { preload, contextIsolation: true, sandbox: true, nodeIntegration: false },
  });
  ipcMain.handle(runListChannel, ({ senderFrame }) => {
    if (senderFrame === window.webContents.mainFrame) return runs.list();
    throw new Error('Only the page of the window itself may ask for the runs.');
  });
  runs.subscribe((list) => window.webContents.send(runsChangedChannel, list));
  window.on('closed', () => {
    runs.close();
    hub.close();
  });
  await window.loadFile(page);
}

function giveUp(error: unknown): void {
  console.error(error);
  app.exit(1);
}
