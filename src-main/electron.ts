import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { app, dialog, session } from 'electron';
import { explainFileError } from '../core/node/file-error.ts';
import { messageOf } from '../core/text/errors.ts';
import { AppMenu } from './desktop/app-menu.ts';
import type { StartServer } from './desktop/browser-access.ts';
import { serveDownloads } from './desktop/dialogs.ts';
import { launchFolder, readLaunch } from './desktop/launch-folder.ts';
import { guardContents, guardSession, registerAppScheme, serveAppScheme } from './desktop/page-security.ts';
import { AppWindows } from './desktop/windows/app-windows.ts';
import { type Connect, connectWhenOpen } from './rpc/connection.ts';
import {
  type DesktopState,
  initialState,
  readDesktopState,
  writeDesktopState,
} from './desktop/windows/window-state.ts';
import { protectTerminal } from './processes/terminal.ts';
import { homePaths } from './store/home.ts';
import { privateMode } from './store/private-home.ts';

/**
 * The desktop app, built to `out/main`: windows, which reach the hub by Electron's messages. They open before the hub,
 * which loads meanwhile.
 */

const pageFolder = fileURLToPath(new URL('../renderer', import.meta.url));
const preload = fileURLToPath(new URL('../preload/preload.cjs', import.meta.url));
protectTerminal();
const onError = (error: unknown): void => console.error(error);

// Windows groups the windows of an app, and shows its notifications, by this name.
app.setAppUserModelId('invalid.tutti.desktop');

let folder = launchFolder(process.argv, app.isPackaged, process.cwd());
/** Shows the app, and the project in a folder if one is given; null until there are windows. */
let showApp: ((folder: string | null) => Promise<void>) | null = null;

const profileFailure = useProfile();
// Not awaited below, because Electron only becomes ready after this module has been evaluated.
if (profileFailure !== null) {
  app
    .whenReady()
    .then(() => giveUp(profileFailure))
    .catch(giveUp);
} else if (app.requestSingleInstanceLock({ folder })) {
  // As root, Chromium only runs without its sandbox; with both, the window would stay blank.
  if (!app.commandLine.hasSwitch('no-sandbox')) app.enableSandbox();
  registerAppScheme();
  guardContents(app);
  app.on('second-instance', (_event, _argv, _workingFolder, launch) => show(readLaunch(launch)));
  app.on('activate', () => show(null));
  app.on('open-file', (event, path) => {
    event.preventDefault();
    show(path);
  });
  app.whenReady().then(open).catch(giveUp);
} else {
  app.quit();
}

/**
 * One app per home of Tutti: the lock is in the profile's folder.
 * @returns why that could not be made; null if it was
 */
function useProfile(): unknown {
  try {
    mkdirSync(homePaths().desktop, { recursive: true, mode: privateMode });
  } catch (error) {
    return explainFileError(error, homePaths().desktop, 'create');
  }
  app.setPath('userData', homePaths().desktop);
  return null;
}

async function open(): Promise<void> {
  guardSession(session.defaultSession);
  serveAppScheme(session.defaultSession, pageFolder);
  serveDownloads(session.defaultSession);
  const { window: statePath, exports: exportFolder } = homePaths();
  const state = lastState(statePath);
  const opening = Promise.withResolvers<Connect>();
  const connect = connectWhenOpen(opening.promise);
  const save = (kept: typeof state): Promise<void> => writeDesktopState(statePath, kept);
  const windows = new AppWindows({ preload, connect, exportFolder, state, save, onError });
  const menu = new AppMenu(windows, onError);
  // Loading the hub takes the time in which this process could answer the page's first requests.
  await windows.show().drawn();
  const { openHub } = await import('./desktop/open-hub.ts');
  const { desktop, service } = await openHub({ startServer, pageFolder, windows, menu, onError });
  opening.resolve((wire) => service.connect(wire, 'owner'));
  showApp = (asked) => desktop.show(asked);
  if (folder !== null) await desktop.show(folder);
}

function lastState(path: string): DesktopState {
  try {
    return readDesktopState(path);
  } catch (error) {
    onError(error);
    return initialState;
  }
}

/** Loaded only for the first link to a browser. */
const startServer: StartServer = async (options) => (await import('./server.ts')).startServer(options);

/** Shows a folder, or remembers it until the app has opened. */
function show(asked: string | null): void {
  if (showApp !== null) showApp(asked).catch(onError);
  else folder = asked ?? folder;
}

/** An app without a window would otherwise end without a word. */
function giveUp(error: unknown): void {
  onError(error);
  dialog.showErrorBox('Tutti could not start', messageOf(error));
  app.exit(1);
}
