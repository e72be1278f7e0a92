import { shell } from 'electron';
import { Hub } from '../hub/hub.ts';
import { HubService } from '../rpc/hub-service.ts';
import { nodeBinary } from '../processes/node-process.ts';
import { provideExamples } from '../trust/examples.ts';
import { homePaths } from '../store/home.ts';
import type { AppMenu } from './app-menu.ts';
import { BrowserAccess, type StartServer } from './browser-access.ts';
import { DesktopApp } from './desktop-app.ts';
import { endWithApp } from './quitting.ts';
import type { AppWindows } from './windows/app-windows.ts';

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

/** Opens the hub and the app around it. In its own module, because it loads nearly all of Tutti: the window is there earlier. */
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
