import { fileURLToPath } from 'node:url';
import { app, BrowserWindow, session } from 'electron';
import { confirmClosing, serveDialogs } from './desktop/dialogs.ts';
import { servePage } from './desktop/page-messages.ts';
import { Hub } from './hub.ts';
import { HubService } from './rpc/hub-service.ts';
import { homePaths } from './store/home.ts';

/** The door from the desktop, built to `out/main`: one window, which reaches the hub by messages within the app. */

const page = fileURLToPath(new URL('../renderer/index.html', import.meta.url));
const preload = fileURLToPath(new URL('../preload/preload.cjs', import.meta.url));
const onError = (error: unknown): void => console.error(error);

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
  for (const notice of hub.notices) console.error(notice);
  const service = await HubService.open(hub, { door: 'desktop', exportLink: () => null, onError });
  const window = new BrowserWindow({
    width: 1280,
    height: 800,
    title: 'Tutti',
    webPreferences: { preload, contextIsolation: true, sandbox: true, nodeIntegration: false },
  });
  servePage(window, (wire) => service.connect(wire));
  serveDialogs(window, homePaths().exports);
  window.on('close', (event) => {
    if (service.liveRunCount > 0 && !confirmClosing(window, service.liveRunCount)) event.preventDefault();
  });
  endWithApp(hub, service, window);
  await window.loadFile(page);
}

/** Before the app goes, its runs end and say so on disk, however it was asked to go. */
function endWithApp(hub: Hub, service: HubService, window: BrowserWindow): void {
  let hasEnded = false;
  app.on('will-quit', (event) => {
    if (hasEnded) return;
    event.preventDefault();
    service
      .close()
      .then(() => hub.close())
      .catch(onError)
      .finally(() => {
        hasEnded = true;
        app.quit();
      });
  });
  // Whoever sends a signal is not there to be asked: destroying asks nobody.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => window.destroy());
}

function giveUp(error: unknown): void {
  onError(error);
  app.exit(1);
}
