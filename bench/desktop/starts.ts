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

interface Program {
  main: string;
  /** The beginning of its page's address. */
  address: string;
  /** What its page has once it can be used. */
  selector: string;
}

const tutti: Program = {
  main: join(import.meta.dirname, '../..', 'out', 'main', 'electron.js'),
  address: 'tutti://app/',
  selector: 'a[href^="#/configure"]',
};
const bare: Program = { main: join(import.meta.dirname, 'bare.mjs'), address: 'data:text/html', selector: 'p' };

/** Starts of the app in Electron with one home, which the first makes, in turns with starts of the bare Electron. */
export async function measureStarts(count: number): Promise<Start[]> {
  const home = await mkdtemp(join(tmpdir(), 'tutti-starts-'));
  const display = await openDisplay();
  const measure = (program: Program): Promise<number[]> => measureStart(program, { ...display.env, TUTTI_HOME: home });
  try {
    const starts: Start[] = [];
    for (let start = 0; start < count; start++) {
      const [bareMs] = await measure(bare);
      const [splashMs, usableMs] = await measure(tutti);
      starts.push({ splashMs, usableMs, bareMs });
    }
    return starts;
  } finally {
    await display.close();
    await rm(home, { recursive: true, force: true });
  }
}

/** When its page has a first picture and can be used, in ms since the process was started. */
async function measureStart(program: Program, environment: Record<string, string>): Promise<number[]> {
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const startedMs = Date.now();
  const app = spawn(electronBinary, [...sandbox, '--remote-debugging-port=0', program.main], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(app, 'exit');
  try {
    const port = await debuggingPort(app.stderr);
    let times: number[] | null = null;
    // The question is lost where the window's first, empty page is replaced meanwhile.
    while (times === null) times = await askPage(port, program);
    return times.map((atMs) => atMs - startedMs);
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
const question = (selector: string): string => `Promise.all([
  new Promise((resolve) => {
    const told = (list) => list.getEntriesByName('first-contentful-paint').forEach(({ startTime }) => resolve(performance.timeOrigin + startTime));
    new PerformanceObserver(told).observe({ type: 'paint', buffered: true });
  }),
  new Promise((resolve) => {
    const look = () => document.querySelector('${selector}') !== null && (resolve(Date.now()), true);
    if (!look()) new MutationObserver((_, observer) => look() && observer.disconnect()).observe(document, { subtree: true, childList: true });
  }),
])`;

async function askPage(port: number, { address, selector }: Program): Promise<number[] | null> {
  const socket = new WebSocket(await pageAddress(port, address));
  await once(socket, 'open');
  const params = { expression: question(selector), awaitPromise: true, returnByValue: true };
  socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params }));
  const [message] = (await once(socket, 'message')) as [Buffer];
  socket.close();
  const { result } = JSON.parse(message.toString()) as { result?: { result?: { value?: number[] } } };
  return result?.result?.value ?? null;
}

async function pageAddress(port: number, address: string): Promise<string> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/json`);
    const targets = (await answer.json()) as { type: string; url: string; webSocketDebuggerUrl: string }[];
    const page = targets.find(({ type, url }) => type === 'page' && url.startsWith(address));
    if (page !== undefined) return page.webSocketDebuggerUrl;
  }
}
