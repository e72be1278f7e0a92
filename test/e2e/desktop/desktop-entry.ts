import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { _electron, chromium, type Page } from '@playwright/test';
import type * as Electron from 'electron';
import { expect, patienceMs } from '../support/expect.ts';

/** A function that runs in the app's main process. It is sent as source, so it has no closure. */
type InMain<Argument, Result> = (electron: typeof Electron, argument: Argument) => Result | Promise<Result>;

/** The desktop app as its tests see it, in either Electron. */
export interface DesktopApp {
  evaluate<Result>(run: InMain<undefined, Result>): Promise<Result>;
  evaluate<Result, Argument>(run: InMain<Argument, Result>, argument: Argument): Promise<Result>;
  pages(): Page[];
  /** Drops a folder on the first window. */
  drop(folder: string): Promise<void>;
  /** Starts the app once more. @returns its exit code */
  startAgain(...args: string[]): Promise<number | null>;
  /** Resolves with the exit code. */
  readonly exited: Promise<number | null>;
  /** Its terminal output. Resolves when it has exited. */
  readonly complaints: Promise<string>;
  /** Signals the app like a system that shuts down. */
  signal(): void;
}

export interface AppOptions {
  home: string;
  /** The built main process. Defaults to the one in `out`. */
  main?: string;
}

const builtMain = join(import.meta.dirname, '../../..', 'out', 'main', 'electron.js');
const register = join(import.meta.dirname, '../electron-stub', 'register.ts');
/** Runs the built app on the stub, with its windows in that Chromium. */
export async function openInStub(executablePath: string, { home, main = builtMain }: AppOptions): Promise<DesktopApp> {
  const port = await freePort();
  const env = { ...process.env, TUTTI_HOME: home, STUB_CHROMIUM: executablePath, STUB_PORT: String(port) };
  const execArgv = ['--disable-warning=ExperimentalWarning', '--import', register];
  const start = (args: string[]): ChildProcess =>
    fork(main, args, { env, execArgv, stdio: ['ignore', 'ignore', 'pipe', 'ipc'], serialization: 'advanced' });
  const child = start([]);
  const evaluate = evaluateIn(child);
  const [exited, complaints] = [exitCode(child), text(child.stderr as Readable)];
  await evaluate(({ app }) => app.whenReady());
  const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`);
  return {
    evaluate,
    exited,
    complaints,
    pages: () => browser.contexts().flatMap((context) => context.pages()),
    drop: (folder) =>
      evaluate(({ BrowserWindow }, path) => {
        const [{ webContents }] = BrowserWindow.getAllWindows();
        return (webContents as unknown as { drop(path: string): Promise<void> }).drop(path);
      }, folder),
    startAgain: (...args) => exitCode(start(args)),
    signal: () => void child.kill('SIGTERM'),
  };
}

/** Runs the built app in Electron itself. */
export async function openInElectron(
  executablePath: string,
  { home, main = builtMain }: AppOptions,
): Promise<DesktopApp> {
  const env = { ...process.env, TUTTI_HOME: home } as Record<string, string>;
  const args = process.getuid?.() === 0 ? ['--no-sandbox', main] : [main];
  const electron = await _electron.launch({ executablePath, args, env });
  const child = electron.process();
  return {
    evaluate: electron.evaluate.bind(electron) as DesktopApp['evaluate'],
    exited: exitCode(child),
    complaints: text(child.stderr as Readable),
    pages: () => electron.windows(),
    drop: async (folder) => {
      const [page] = electron.windows();
      const session = await page.context().newCDPSession(page);
      const data = { items: [], files: [folder], dragOperationsMask: 1 };
      for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
        await session.send('Input.dispatchDragEvent', { type, x: 400, y: 300, data });
      }
    },
    startAgain: (...given) => exitCode(spawn(executablePath, [...args, ...given], { env, stdio: 'ignore' })),
    signal: () => void child.kill('SIGTERM'),
  };
}

/** The page of the app's window, once it is shown. */
export async function ownPage(desktop: DesktopApp): Promise<Page> {
  const find = (): Page | undefined =>
    desktop.pages().findLast((page) => !page.isClosed() && /^(tutti:\/\/app|http:\/\/app\.tutti)/.test(page.url()));
  await expect.poll(() => find() !== undefined).toBe(true);
  const page = find();
  if (page === undefined) throw new Error('The window went away as it came.');
  page.setDefaultTimeout(patienceMs);
  await expect(page.getByRole('navigation', { name: 'Pages' })).toBeVisible();
  return page;
}

function evaluateIn(child: ChildProcess): DesktopApp['evaluate'] {
  const asked = new Map<number, PromiseWithResolvers<never>>();
  child.on('message', ({ id, value, error }: { id: number; value?: never; error?: string }) => {
    if (error === undefined) asked.get(id)?.resolve(value as never);
    else asked.get(id)?.reject(new Error(error));
    asked.delete(id);
  });
  child.on('exit', (code) => {
    for (const { reject } of asked.values()) reject(new Error(`The app has ended with ${code}.`));
  });
  let lastId = 0;
  return (run: unknown, argument?: unknown) => {
    lastId += 1;
    const answer = Promise.withResolvers<never>();
    asked.set(lastId, answer);
    child.send({ id: lastId, source: String(run), argument }, (error) => error && answer.reject(error));
    return answer.promise;
  };
}

async function exitCode(child: ChildProcess): Promise<number | null> {
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string')
    throw new Error(`The server listens on ${address}, not on a port.`);
  return address.port;
}
