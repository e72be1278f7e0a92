import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Hub } from './hub.ts';
import { HubService } from './rpc/hub-service.ts';
import { exportPath, startServer } from './server.ts';
import { homePaths } from './store/home.ts';

/** `npm start`: the window in Electron where its binary and a display are there, else the same page in the browser. */

const out = fileURLToPath(new URL('../out/', import.meta.url));

/**
 * Path of Electron's binary; null where it was never fetched. The package itself must not be imported to find out: that
 * would begin the download, without an end where its host cannot be reached.
 */
function findElectron(): string | null {
  const folder = dirname(createRequire(import.meta.url).resolve('electron/package.json'));
  const pathFile = join(folder, 'path.txt');
  if (!existsSync(pathFile)) return null;
  const binary = join(folder, 'dist', readFileSync(pathFile, 'utf8').trim());
  return existsSync(binary) ? binary : null;
}

function hasDisplay(): boolean {
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  return process.platform !== 'linux' || Boolean(DISPLAY ?? WAYLAND_DISPLAY);
}

async function buildIfMissing(): Promise<void> {
  if (existsSync(join(out, 'renderer', 'index.html'))) return;
  console.log('Building the page, once.');
  const { build } = await import('electron-vite');
  await build({ logLevel: 'warn' });
}

function openDesktop(binary: string): void {
  const child = spawn(binary, [join(out, 'main', 'electron.js')], { stdio: 'inherit' });
  child.on('error', (error) => {
    console.error(
      `${binary} did not start: ${error.message}. Delete node_modules/electron/path.txt to use the browser.`,
    );
    process.exitCode = 1;
  });
  child.on('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}

async function openBrowserDoor(): Promise<void> {
  const onError = (error: unknown): void => console.error(error);
  const hub = await Hub.open();
  for (const notice of hub.notices) console.error(notice);
  const service = await HubService.open(hub, { door: 'browser', exportLink: exportPath, onError });
  const server = await startServer({
    pageFolder: join(out, 'renderer'),
    exportFolder: homePaths().exports,
    connect: (wire) => service.connect(wire),
    onError,
  });
  console.log(`Tutti runs at  ${server.link}`);
  console.log('The link works once. Ctrl-C ends Tutti and its runs; closing the page ends nothing.');
  if (process.env.SSH_CONNECTION) {
    console.log(`From your own machine first:  ssh -L ${server.port}:127.0.0.1:${server.port} <this machine>`);
  }
  const close = async (): Promise<void> => {
    // Runs first: their last words still reach the pages.
    await service.close();
    await server.close();
    hub.close();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => close().catch(onError));
}

const electron = findElectron();
await buildIfMissing();
if (electron !== null && hasDisplay()) openDesktop(electron);
else await openBrowserDoor();
