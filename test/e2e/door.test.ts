import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium as playwright } from '@playwright/test';
import { afterAll, beforeAll, describe, it, onTestFinished } from 'vitest';
import { notRun } from '../environment/reasons.ts';
import { makeCertificate, noOpenssl } from '../unit/server/certificates.ts';
import { chooseAction, blobs, expectStatus, Stage, startRun, visit } from './stage.ts';
import { chromium, noChromium } from './support/browser.ts';
import { chromiumFlags, launchChromium } from './support/chromium.ts';
import { expect } from './support/expect.ts';

const tuttiFile = join(import.meta.dirname, '../../src-main/tutti.mjs');

/** Starts Tutti as `tutti dashboard` does. */
async function start(
  folder: string,
  options: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<{ link: string }> {
  const { DISPLAY: _x11, WAYLAND_DISPLAY: _wayland, ...others } = process.env;
  const tutti = spawn(process.execPath, [tuttiFile, 'dashboard', ...options], {
    env: { ...others, TUTTI_HOME: join(folder, 'home'), ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    const ended = once(tutti, 'exit');
    tutti.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  for await (const line of createInterface({ input: tutti.stdout })) {
    const link = /^Tutti runs at\s+(\S+)$/.exec(line)?.[1];
    if (link !== undefined) return { link };
  }
  throw new Error('Tutti did not start.');
}

/**
 * Starts Tutti with a display that does not exist, and a browser on its PATH that needs none but is else the real
 * Chromium.
 */
async function startWithBrowser(folder: string): Promise<{ link: string }> {
  const wrapper = join(folder, 'chromium');
  const flags = [...chromiumFlags, '--headless', '--remote-debugging-port=0', `--user-data-dir=${folder}/profile`];
  await writeFile(wrapper, `#!/bin/sh\nexec "${chromium}" ${flags.join(' ')} "$@"\n`);
  await chmod(wrapper, 0o755);
  const environment = { DISPLAY: ':none', PATH: `${folder}:${process.env.PATH}`, TMPDIR: folder };
  return start(folder, ['--browser'], environment);
}

/** The command lines of all processes of this machine, as every user sees them. */
async function commandLines(): Promise<string[]> {
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return Promise.all(processes.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
}

const noProc = process.platform === 'linux' ? noChromium : 'needs /proc, which only Linux has';

describe.skipIf(noProc !== null)(`The window of tutti dashboard${notRun(noProc)}`, () => {
  it('opens the page without showing its link to other users', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tutti-door-'));
    const { link } = await startWithBrowser(folder);
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

describe.skipIf(noChromium !== null)(`A link for watching${notRun(noChromium)}`, () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await Stage.open(chromium ?? '');
  });
  afterAll(() => stage.close(/Failed to load resource|WebSocket connection/));

  it('shows runs to another browser, which controls nothing, until its owner ends it', async () => {
    const owner = await stage.openPage();
    const id = await startRun(owner, blobs, { maxEpochs: 1_000_000 });
    await expectStatus(owner, 'running');
    await visit(owner, '/settings');
    await owner.getByRole('button', { name: 'New link for watching' }).click();
    const link = (await owner.locator('code', { hasText: 'token=' }).textContent()) ?? '';

    const watcher = await stage.openPage(link);
    await expect(watcher.getByText('Watching only')).toBeVisible();
    await expect(watcher).toHaveURL(/#\/runs$/);
    await expect(watcher.getByRole('link', { name: 'Projects' })).toHaveCount(0);
    await expect(watcher.getByRole('link', { name: 'Settings' })).toHaveCount(0);
    await visit(watcher, `/runs/${id}`);
    await expectStatus(watcher, 'running');
    await expect(watcher.locator('.run-header').getByRole('button')).toHaveCount(0);
    // The page of projects would run their code.
    await visit(watcher, '/');
    await expect(watcher).toHaveURL(/#\/runs$/);

    await owner.getByRole('button', { name: 'End all watching' }).click();
    await expect(watcher.getByRole('alert')).toContainText(
      'This link has ended. Ask whoever started Tutti for a new one.',
    );
    await visit(owner, `/runs/${id}`);
    await expectStatus(owner, 'running');
    await chooseAction(owner, 'Abort');
  });
});

const noTls = noChromium ?? noOpenssl;

describe.skipIf(noTls !== null)(`A server with a certificate${notRun(noTls)}`, () => {
  it('serves the page and its connection over TLS, with a secure cookie', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tutti-door-'));
    const { certificate, key } = makeCertificate(folder, 'DNS:localhost');
    const { link } = await start(folder, ['--host', '0.0.0.0', '--tls-cert', certificate, '--tls-key', key]);
    expect(link).toMatch(/^https:\/\/localhost:\d+\/\?token=/);
    const browser = await launchChromium(chromium ?? '');
    onTestFinished(() => browser.close());
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    const page = await context.newPage();
    await page.goto(link);
    await expect(page.getByRole('navigation', { name: 'Pages' })).toBeVisible();
    await visit(page, '/settings');
    // Only a connection to the hub makes this.
    await page.getByRole('button', { name: 'New link for watching' }).click();
    await expect(page.locator('code', { hasText: 'token=' })).toContainText('https://localhost:');
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ secure: true, httpOnly: true, sameSite: 'Strict', path: '/' });
    expect(cookie.name).toBe(`__Host-tutti-${new URL(link).port}`);
  });
});
