import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { app, dialog, session, shell } from 'electron';
import { explainFileError } from '../core/node/file-error.ts';
import { messageOf } from '../core/text/errors.ts';
import { registerAppScheme, serveAppScheme, guardContents, guardSession } from './desktop/page-security.ts';
import { DesktopApp } from './desktop/desktop-app.ts';
import { serveDownloads } from './desktop/dialogs.ts';
import { launchFolder, readLaunch } from './desktop/launch-folder.ts';
import { endWithApp } from './desktop/quitting.ts';
import { Hub } from './hub/hub.ts';
import { HubService } from './rpc/hub-service.ts';
import { nodeBinary } from './processes/node-process.ts';
import { protectTerminal } from './processes/terminal.ts';
import { provideExamples } from './trust/examples.ts';
import { homePaths } from './store/home.ts';
import { privateMode } from './store/private-home.ts';

/** The desktop app, built to `out/main`: one window, which reaches the hub by Electron's messages. */

const pageFolder = fileURLToPath(new URL('../renderer', import.meta.url));
const preload = fileURLToPath(new URL('../preload/preload.cjs', import.meta.url));
protectTerminal();
const onError = (error: unknown): void => console.error(error);

// Windows groups the windows of an app, and shows its notifications, by this name.
app.setAppUserModelId('invalid.tutti.desktop');

let folder = launchFolder(process.argv, app.isPackaged, process.cwd());
let desktop: DesktopApp | null = null;

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

/** One app per home of Tutti: the lock is in the profile's folder. @returns why that could not be made; null if it was */
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
  // Workers need it. A missing one must be told now, not when a run starts.
  nodeBinary();
  await provideExamples();
  const hub = await Hub.open((notice) => console.error(notice));
  for (const notice of hub.notices) console.error(notice);
  const service = await HubService.open(hub, {
    frontEnd: 'desktop',
    exportLink: () => null,
    links: null,
    openPath,
    onError,
  });
  desktop = await DesktopApp.open({ service, preload, onError });
  endWithApp({ desktop, service, hub, onError });
  await desktop.show(folder);
}

/** Shows a folder, or remembers it until the app has opened. */
function show(asked: string | null): void {
  if (desktop !== null) desktop.show(asked).catch(onError);
  else folder = asked ?? folder;
}

async function openPath(path: string): Promise<void> {
  const problem = await shell.openPath(path);
  if (problem !== '') throw new Error(`${path} could not be opened: ${problem}. Open it yourself.`);
}

/** An app without a window would otherwise end without a word. */
function giveUp(error: unknown): void {
  onError(error);
  dialog.showErrorBox('Tutti could not start', messageOf(error));
  app.exit(1);
}
