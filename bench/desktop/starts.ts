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
}

const builtMain = join(import.meta.dirname, '../..', 'out', 'main', 'electron.js');

/** Starts of the app in Electron with one home: the first makes it. */
export async function measureStarts(count: number): Promise<Start[]> {
  const home = await mkdtemp(join(tmpdir(), 'tutti-starts-'));
  const display = await openDisplay();
  try {
    const starts: Start[] = [];
    for (let start = 0; start < count; start++) starts.push(await measureStart(home, display.env));
    return starts;
  } finally {
    await display.close();
    await rm(home, { recursive: true, force: true });
  }
}

async function measureStart(home: string, environment: Record<string, string>): Promise<Start> {
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const startedMs = Date.now();
  const app = spawn(electronBinary, [...sandbox, '--remote-debugging-port=0', builtMain], {
    env: { ...process.env, ...environment, TUTTI_HOME: home },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(app, 'exit');
  try {
    const port = await debuggingPort(app.stderr);
    let times: [number, number] | null = null;
    // The question is lost where the window's first, empty page is replaced meanwhile.
    while (times === null) times = await askPage(port);
    const [splashAtMs, usableAtMs] = times;
    return { splashMs: splashAtMs - startedMs, usableMs: usableAtMs - startedMs };
  } finally {
    app.kill('SIGKILL');
    await ended;
  }
}

async function debuggingPort(output: NodeJS.ReadableStream): Promise<number> {
  const lines = createInterface({ input: output });
  for await (const line of lines) {
    const port = /DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (port !== undefined) {
      output.resume();
      return Number(port);
    }
  }
  throw new Error('Electron ended before it listened for a debugger.');
}

/** Resolves in the page, with times since the epoch: both clocks are those of this machine. */
const question = `new Promise((resolve) => {
  const look = () => {
    if (document.querySelector('a[href^="#/configure"]') === null) return false;
    const at = Date.now();
    const [paint] = performance.getEntriesByName('first-contentful-paint');
    resolve([performance.timeOrigin + (paint?.startTime ?? NaN), at]);
    return true;
  };
  if (!look()) {
    const observer = new MutationObserver(() => look() && observer.disconnect());
    observer.observe(document, { subtree: true, childList: true });
  }
})`;

async function askPage(port: number): Promise<[number, number] | null> {
  const socket = new WebSocket(await pageAddress(port));
  await once(socket, 'open');
  const params = { expression: question, awaitPromise: true, returnByValue: true };
  socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params }));
  const [message] = (await once(socket, 'message')) as [Buffer];
  socket.close();
  const { result } = JSON.parse(message.toString()) as { result?: { result?: { value?: [number, number] } } };
  return result?.result?.value ?? null;
}

async function pageAddress(port: number): Promise<string> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/json`);
    const targets = (await answer.json()) as { type: string; url: string; webSocketDebuggerUrl: string }[];
    const page = targets.find(({ type, url }) => type === 'page' && url.startsWith('tutti://app/'));
    if (page !== undefined) return page.webSocketDebuggerUrl;
  }
}
