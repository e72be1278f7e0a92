import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { tutti } from '../core/text/program.ts';
import type { PageRole } from '../core/protocol/pages/rpc.ts';
import { exitCodes, reportError, toUsageError } from './cli/errors.ts';
import { Hub } from './hub/hub.ts';
import { KeyPress } from './processes/terminal.ts';
import { onLauncherLost } from './processes/launcher-guard.ts';
import { HubService } from './rpc/hub-service.ts';
import { type RunningServer, startServer } from './server.ts';
import { readIdentity } from './server/certificate.ts';
import { ExportLinks } from './server/export-links.ts';
import { askForLink, serveLinks } from './server/link-socket.ts';
import { hasDisplay } from './processes/app-files.ts';
import { openAppWindow } from './start/app-window.ts';
import { buildIfStale, out } from './built/build.ts';
import { findDesktop } from './start/desktop-program.ts';
import { parseStartOptions, type StartOptions, startHelp } from './start/options.ts';
import { homePaths } from './store/home.ts';
import { requireHome } from './store/private-home.ts';

/** `tutti dashboard` opens the desktop app if it and a display exist, else the same page in the browser. */

function openDesktop([program, ...args]: readonly [string, ...string[]]): void {
  const child = spawn(program, args, { stdio: 'inherit' });
  child.on('error', (error) => {
    console.error(`${program} did not start: ${error.message}. Use the browser: ${tutti} dashboard --browser.`);
    process.exitCode = 1;
  });
  // The terminal sends Ctrl-C to both processes.
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, () => child.kill(signal));
  process.on('SIGINT', () => undefined);
  onLauncherLost(() => void child.kill('SIGHUP'));
  child.on('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}

function printLink({ link, port }: RunningServer, isSecure: boolean): void {
  console.log(`Tutti runs at  ${link}`);
  console.log(
    `The link works once; \`${tutti} dashboard --link\` prints another. Ctrl-C ends Tutti and its runs; ` +
      'closing the page ends nothing.',
  );
  if (process.env.SSH_CONNECTION && !isSecure) {
    console.log(`From your own machine first:  ssh -L ${port}:127.0.0.1:${port} <this machine>`);
  }
}

/** Waits for a server. Where it cannot start, watches and timers of the service would keep this process. */
async function orClose<T>(starting: Promise<T>, service: HubService, hub: Hub): Promise<T> {
  try {
    return await starting;
  } catch (error) {
    await service.close();
    hub.close();
    throw error;
  }
}

async function serveBrowser({ host, port, certificate, isOpened }: StartOptions): Promise<void> {
  const onError = (error: unknown): void => void reportError(error);
  const identity = certificate === null ? null : await readIdentity(certificate);
  const hub = await Hub.open((notice) => console.error(notice));
  for (const notice of hub.notices) console.error(notice);
  const exportLinks = new ExportLinks();
  const exportLink = (fileName: string): string => exportLinks.link(fileName);
  const links = {
    create: (role: PageRole) => (role === 'owner' ? server.newLink() : server.newWatchLink()),
    endWatchers: () => server.endWatchers(),
  };
  const service = await HubService.open(hub, { frontEnd: 'browser', exportLink, links, openPath: null, onError });
  const { dashboard, exports: exportFolder } = homePaths();
  const starting = startServer({
    host,
    port,
    identity,
    pageFolder: join(out, 'renderer'),
    sessionFolder: dashboard,
    exportFolder,
    exportLinks,
    connect: (wire, role) => service.connect(wire, role),
    onError,
    onNotice: (text) => console.error(text),
  });
  const server = await orClose(starting, service, hub);
  const endLinks = await serveLinks(dashboard, server.port, () => server.newLink());
  printLink(server, identity !== null);
  const removeRedirect = isOpened ? await openAppWindow(server.link, server.entered) : () => Promise.resolve();
  const close = async (): Promise<void> => {
    await Promise.all([removeRedirect(), endLinks()]);
    // Runs end first, so that their last updates still reach the pages.
    await service.close();
    await server.close();
    hub.close();
  };
  endWithSignals(() => close().catch(onError));
}

/** Ends once at the first signal, or when npm is gone. A second Ctrl-C ends the process at once. */
function endWithSignals(end: () => Promise<void>): void {
  const press = new KeyPress();
  let ending: Promise<void> | null = null;
  const endOnce = (): void => void (ending ??= end());
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, endOnce);
  process.on('SIGINT', () => {
    if (press.isNew() && ending !== null) process.exit(exitCodes.interrupted);
    endOnce();
  });
  onLauncherLost(endOnce);
}

async function start(options: StartOptions): Promise<void> {
  if (options.isLinkOnly) return console.log(await askForLink(homePaths().dashboard, options.port));
  // This comes before a build, which takes longer than to say that nothing can be stored.
  await requireHome();
  await buildIfStale();
  const desktop = options.frontEnd === 'browser' ? null : findDesktop();
  if (desktop !== null && (options.frontEnd === 'desktop' || hasDisplay())) return openDesktop(desktop);
  if (options.frontEnd === 'desktop') {
    throw new Error('Electron is not installed: its binary is not in node_modules/electron. Omit --desktop.');
  }
  if (options.frontEnd === 'auto') console.log('Electron or a display is missing: Tutti opens in the browser.');
  return serveBrowser(options);
}

/**
 * Opens the dashboard, which stays until it is closed.
 * @returns the exit code
 * @throws UsageError for options that do not exist or exclude each other
 */
export async function openDashboard(args: readonly string[]): Promise<number> {
  const options = parseOptions(args);
  if (options === 'help') console.log(startHelp);
  else await start(options);
  return exitCodes.finished;
}

function parseOptions(args: readonly string[]): StartOptions | 'help' {
  try {
    return parseStartOptions(args);
  } catch (error) {
    throw error instanceof RangeError ? toUsageError(error) : error;
  }
}
