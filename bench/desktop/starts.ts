import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';
import { openDisplay } from '../../test/environment/electron/display.ts';
import { electronBinary } from '../../test/environment/electron/electron.ts';

/** When what is seen, in ms since the process was started. */
export interface Start {
  /** The first picture of the window's page: the splash. */
  splashMs: number;
  /** The first project can be clicked: the page runs, and the hub has answered. */
  usableMs: number;
  /** The first picture of an Electron that only shows a word. */
  bareMs: number;
}

const timed = join(import.meta.dirname, 'timed.mjs');
const tutti = join(import.meta.dirname, '../..', 'out', 'main', 'electron.js');
const bare = join(import.meta.dirname, 'bare.mjs');

/** Starts of the app in Electron with one home, which the first makes, in turns with starts of the bare Electron. */
export async function measureStarts(count: number): Promise<Start[]> {
  const home = await mkdtemp(join(tmpdir(), 'tutti-starts-'));
  const display = await openDisplay();
  const environment = { ...display.env, TUTTI_HOME: home };
  try {
    const starts: Start[] = [];
    for (let start = 0; start < count; start++) {
      const { pictureMs: bareMs } = await measureStart(bare, environment, () => Promise.resolve(NaN));
      const { pictureMs: splashMs, usableMs } = await measureStart(tutti, environment, untilUsable);
      starts.push({ splashMs, usableMs, bareMs });
    }
    return starts;
  } finally {
    await display.close();
    await rm(home, { recursive: true, force: true });
  }
}

/**
 * @param usable asks at a port of Chromium's debugger when the page can be used, in ms since 1970, once there is a
 * first picture
 */
async function measureStart(
  main: string,
  environment: Record<string, string>,
  usable: (port: number) => Promise<number>,
): Promise<{ pictureMs: number; usableMs: number }> {
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const startedMs = Date.now();
  const app = spawn(electronBinary, [...sandbox, '--remote-debugging-port=0', timed], {
    env: { ...process.env, ...environment, TUTTI_BENCH_APP: main },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(app, 'exit');
  try {
    const { port, pictureAtMs } = await readStart(app.stderr);
    return { pictureMs: pictureAtMs - startedMs, usableMs: (await usable(port)) - startedMs };
  } finally {
    app.kill('SIGKILL');
    await ended;
  }
}

async function readStart(output: NodeJS.ReadableStream): Promise<{ port: number; pictureAtMs: number }> {
  const lines = createInterface({ input: output });
  let port = NaN;
  for await (const line of lines) {
    port = Number(/DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1] ?? port);
    const pictureAtMs = Number(/^The first picture came at (\d+)$/.exec(line)?.[1] ?? NaN);
    if (Number.isNaN(pictureAtMs)) continue;
    output.resume();
    return { port, pictureAtMs };
  }
  throw new Error('Electron ended before it showed a window.');
}

/** Resolves in the page, with the time since the epoch: both clocks are those of this machine. */
const question = `new Promise((resolve) => {
  const look = () => document.querySelector('a[href^="#/configure"]') !== null && (resolve(Date.now()), true);
  if (!look()) new MutationObserver((_, observer) => look() && observer.disconnect()).observe(document, { subtree: true, childList: true });
})`;

async function untilUsable(port: number): Promise<number> {
  const socket = new WebSocket(await pageAddress(port));
  await once(socket, 'open');
  const params = { expression: question, awaitPromise: true, returnByValue: true };
  socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params }));
  const [message] = (await once(socket, 'message')) as [Buffer];
  socket.close();
  const { result } = JSON.parse(message.toString()) as { result?: { result?: { value?: number } } };
  const value = result?.result?.value;
  if (value === undefined) throw new Error(`The page did not answer: ${message.toString()}`);
  return value;
}

async function pageAddress(port: number): Promise<string> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/json`);
    const targets = (await answer.json()) as { type: string; url: string; webSocketDebuggerUrl: string }[];
    const page = targets.find(({ type, url }) => type === 'page' && url.startsWith('tutti://app/'));
    if (page !== undefined) return page.webSocketDebuggerUrl;
  }
}
