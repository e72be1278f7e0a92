import { app, shell } from 'electron';
import { Hub } from '../hub/hub.ts';
import { HubService } from '../rpc/hub-service.ts';
import { nodeBinary } from '../processes/node-process.ts';
import { provideExamples } from '../trust/examples.ts';
import { homePaths } from '../store/home.ts';
import type { AppMenu } from './app-menu.ts';
import { BrowserAccess, type StartServer } from './browser-access.ts';
import { DesktopApp } from './desktop-app.ts';
import type { AppWindows } from './windows/app-windows.ts';
import { confirmQuitting } from './dialogs.ts';

export interface OpenApp {
  desktop: DesktopApp;
  service: HubService;
}

export interface EarlyParts {
  /** Serves the pages to a browser. */
  startServer: StartServer;
  /** The folder of the built page. */
  pageFolder: string;
  windows: AppWindows;
  menu: AppMenu;
  onError: (error: unknown) => void;
}

/**
 * Opens the hub and the app around it. In its own module, because it loads nearly all of Tutti: the window is there
 * earlier.
 */
export async function openHub({ startServer, pageFolder, windows, menu, onError }: EarlyParts): Promise<OpenApp> {
  // Workers need it. A missing one must be told now, not when a run starts.
  nodeBinary();
  await provideExamples();
  const hub = await Hub.open((notice) => console.error(notice));
  for (const notice of hub.notices) console.error(notice);
  const browsers = new BrowserAccess({
    startServer,
    pageFolder,
    exportFolder: homePaths().exports,
    connect: (wire, role, exportLink) => service.connect(wire, role, exportLink),
    onError,
  });
  const service: HubService = await HubService.open(hub, {
    frontEnd: 'desktop',
    exportLink: () => null,
    links: browsers,
    openPath,
    onError,
  });
  const desktop = await DesktopApp.open({ service, windows, menu, browsers, onError });
  endWithApp({ desktop, service, hub, onError });
  return { desktop, service };
}

async function openPath(path: string): Promise<void> {
  const problem = await shell.openPath(path);
  if (problem !== '') throw new Error(`${path} could not be opened: ${problem}. Open it yourself.`);
}

interface Ending {
  desktop: DesktopApp;
  service: HubService;
  hub: Hub;
  onError: (error: unknown) => void;
}

/**
 * Handles the end of the app. Runs continue when the windows are closed. Quitting asks before it interrupts them.
 * However the app quits, its runs end first and are recorded as interrupted.
 */
function endWithApp(ending: Ending): void {
  const { desktop, service, onError } = ending;
  let isAllowed = false;
  let isAsking = false;
  const quit = (): void => {
    isAllowed = true;
    app.quit();
  };
  app.on('window-all-closed', () => desktop.windowsClosed().catch(onError));
  app.on('before-quit', (event) => {
    if (isAllowed || service.training.count === 0) return desktop.keepWindows();
    event.preventDefault();
    if (isAsking) return;
    isAsking = true;
    confirmQuitting(desktop.front?.browser ?? null, service.training.count)
      .then((isConfirmed) => isConfirmed && quit())
      .catch(onError)
      .finally(() => (isAsking = false));
  });
  endRunsFirst(ending);
  // The sender of a signal cannot be asked.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, quit);
}

function endRunsFirst({ desktop, service, hub, onError }: Ending): void {
  let hasEnded = false;
  app.on('will-quit', (event) => {
    if (hasEnded) return;
    event.preventDefault();
    desktop
      .close()
      .then(() => service.close())
      .then(() => hub.close())
      .catch(onError)
      .finally(() => {
        hasEnded = true;
        app.quit();
      });
  });
}
