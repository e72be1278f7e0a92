import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium as playwright } from '@playwright/test';
import { afterAll, beforeAll, describe, it, onTestFinished } from 'vitest';
import { notRun } from '../environment/reasons.ts';
import { Stage } from './stage.ts';
import { chromium, noChromium } from './support/browser.ts';
import { chromiumFlags } from './support/chromium.ts';
import { expect } from './support/expect.ts';

const startFile = join(import.meta.dirname, '../../src-main/start.ts');

/** Starts Tutti with a display that does not exist, and a browser on its PATH that needs none but is else the real Chromium. */
async function startWithBrowser(folder: string): Promise<{ tutti: ChildProcess; link: string }> {
  const wrapper = join(folder, 'chromium');
  const flags = [...chromiumFlags, '--headless', '--remote-debugging-port=0', `--user-data-dir=${folder}/profile`];
  await writeFile(wrapper, `#!/bin/sh\nexec "${chromium}" ${flags.join(' ')} "$@"\n`);
  await chmod(wrapper, 0o755);
  const tutti = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', startFile, '--browser'], {
    env: {
      ...process.env,
      DISPLAY: ':none',
      PATH: `${folder}:${process.env.PATH}`,
      TUTTI_HOME: join(folder, 'home'),
      TMPDIR: folder,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: tutti.stdout })) {
    const link = /^Tutti runs at\s+(\S+)$/.exec(line)?.[1];
    if (link !== undefined) return { tutti, link };
  }
  throw new Error('Tutti did not start.');
}

/** The command lines of all processes of this machine, as every user sees them. */
async function commandLines(): Promise<string[]> {
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return Promise.all(processes.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
}

const noProc = process.platform === 'linux' ? noChromium : 'needs /proc, which only Linux has';

describe.skipIf(noProc !== null)(`The window of npm start${notRun(noProc)}`, () => {
  it('opens the page without showing its link to other users', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tutti-door-'));
    const { tutti, link } = await startWithBrowser(folder);
    onTestFinished(async () => {
      const ended = once(tutti, 'exit');
      tutti.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    });
    const portFile = join(folder, 'profile', 'DevToolsActivePort');
    await expect.poll(() => readFile(portFile, 'utf8').catch(() => '')).toMatch(/^\d+\n/);
    const seen = await commandLines();
    const [debuggingPort] = (await readFile(portFile, 'utf8')).split('\n');
    const browser = await playwright.connectOverCDP(`http://127.0.0.1:${debuggingPort}`);
    const [page] = browser.contexts()[0].pages();
    await expect(page.getByRole('navigation', { name: 'Pages' })).toBeVisible();
    expect(new URL(page.url()).origin).toBe(new URL(link).origin);
    const token = String(new URL(link).searchParams.get('token'));
    expect(seen.some((line) => line.includes('--app=file://'))).toBe(true);
    expect(seen.filter((line) => line.includes(token))).toEqual([]);
    // Neither the address nor the history holds a secret.
    expect(page.url()).not.toContain(token);
    await expect.poll(async () => (await readdir(folder)).filter((name) => name.startsWith('tutti-open-'))).toEqual([]);
    await browser.newBrowserCDPSession().then((session) => session.send('Browser.close'));
  });
});

describe.skipIf(noChromium !== null)(`A server on another port${notRun(noChromium)}`, () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await Stage.open(chromium ?? '');
  });
  afterAll(() => stage.close(/Failed to load resource|WebSocket connection|ERR_BLOCKED|MIME|favicon/));

  it('receives the cookie of the browser, but cannot act with it', async () => {
    const page = await stage.openPage();
    const received: string[] = [];
    const thief = createServer((request, response) => {
      received.push(request.headers.cookie ?? '');
      response.end('<h1>Free data sets</h1>');
    }).listen(0, '127.0.0.1');
    await once(thief, 'listening');
    onTestFinished(() => void thief.close());
    const address = thief.address();
    if (address === null || typeof address === 'string') throw new Error('The server has no port.');
    const other = await page.context().newPage();
    await other.goto(`http://127.0.0.1:${address.port}/`);
    // Browsers do send it: cookies ignore ports.
    expect(received[0]).toMatch(new RegExp(`^tutti-${stage.tutti.port}=[\\w-]{43}$`));
    const replay = (headers: Record<string, string>): Promise<number> =>
      new Promise((resolve, reject) => {
        const handshake = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
        const key = { 'sec-websocket-key': Buffer.alloc(16).toString('base64') };
        const all = { ...headers, ...handshake, ...key };
        get({ host: '127.0.0.1', port: stage.tutti.port, path: '/rpc', headers: all }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        })
          .on('upgrade', () => resolve(101))
          .on('error', reject);
      });
    expect(await replay({ cookie: received[0] })).toBe(401);
    expect(await replay({ cookie: received[0], 'sec-websocket-protocol': 'tutti, guess' })).toBe(401);
    // Its pages have another storage, and their requests another origin.
    expect(await other.evaluate(() => localStorage.length)).toBe(0);
    const opened = await other.evaluate(
      (port) =>
        new Promise<boolean>((resolve) => {
          const socket = new WebSocket(`ws://127.0.0.1:${port}/rpc`, ['tutti', 'guess']);
          socket.addEventListener('open', () => resolve(true));
          socket.addEventListener('error', () => resolve(false));
        }),
      stage.tutti.port,
    );
    expect(opened).toBe(false);
    // The page itself still works, also in a second tab.
    const second = await page.context().newPage();
    await second.goto(`${new URL(page.url()).origin}/`);
    await expect(second.getByRole('navigation', { name: 'Pages' })).toBeVisible();
  });
});
