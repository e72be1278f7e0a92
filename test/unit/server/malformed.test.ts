import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExportLinks } from '../../../src-main/server/export-links.ts';
import { type RunningServer, startServer } from '../../../src-main/server.ts';

/** Requests as bytes, which no HTTP client would send. */

/** Random requests; more of them before a release. */
const requests = Number(process.env.TUTTI_DOOR_REQUESTS ?? 300);

let server: RunningServer;
let folder: string;
let cookie: string;
const errors: unknown[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-malformed-'));
  await writeFile(join(folder, 'index.html'), '<h1>Runs</h1>');
  server = await startServer({
    port: 0,
    pageFolder: folder,
    exportFolder: folder,
    exportLinks: new ExportLinks(),
    connect: () => () => undefined,
    onError: (error) => errors.push(error),
    onNotice: () => undefined,
  });
  const { headers } = await fetch(server.link);
  [cookie] = String(headers.get('set-cookie')).split(';');
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

/**
 * @param isWhole whether the server ends the connection; it waits for the rest of other bytes until the client ends it
 */
function sendRaw(bytes: string, isWhole = true): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(server.port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (answer += chunk));
  // The server may have closed already, which is an answer too.
  socket.on('error', () => undefined);
  socket.on('close', () => resolve(answer));
  if (isWhole) socket.write(bytes, 'latin1');
  else socket.end(bytes, 'latin1');
  return promise;
}

/** A request of a browser with a session, but with any target. */
function requestOf(target: string, extra = ''): string {
  return (
    `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nCookie: ` +
    `${cookie}\r\n${extra}Connection: close\r\n\r\n`
  );
}

/** A short answer of 4xx, without a stack and without a path of this machine. */
function expectShortRefusal(answer: string): void {
  expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
  expect(answer.length).toBeLessThan(2000);
  expect(answer).not.toContain(folder);
  expect(answer).not.toMatch(/\n\s+at /);
  expect(errors).toEqual([]);
}

describe('a malformed request', () => {
  it('of the usual kind is answered, so that the cases below fail for their own reason', async () => {
    expect(await sendRaw(requestOf('/'))).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    '//',
    '///',
    '//etc/passwd',
    '//[',
    '/\\\\host\\share',
    '/%',
    '/%c0%ae%c0%ae/',
    '/..;/',
    '*',
    'http://other.example/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    '?',
    '#',
    `/${'a'.repeat(9000)}.js`,
    '/index.html/x.js',
    '/\u0000.js',
    `/rpc?${'x'.repeat(1000)}`,
    '/exports/%2e%2e%2fx.zip',
  ])('%j gets a short refusal', async (target) => {
    expectShortRefusal(await sendRaw(requestOf(target)));
  });

  it.each(['/?token', '/?token=%', '/?token[]=1', '/?', '/#'])('%j is the page of the session', async (target) => {
    expect(await sendRaw(requestOf(target))).toContain('<h1>Runs</h1>');
  });

  it.each([
    ['no Host', 'GET / HTTP/1.1\r\n\r\n'],
    ['no version', 'GET /\r\n\r\n'],
    ['two Hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n'],
    ['an endless header', `GET / HTTP/1.1\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`],
    ['a bad length', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nx'],
    ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an upgrade to another protocol', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'],
    ['an upgrade without a key', 'GET /rpc HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
  ])('with %s gets a short refusal', async (_what, bytes) => {
    expectShortRefusal(await sendRaw(bytes));
  });

  it('of any bytes is refused or dropped, and the server goes on', { timeout: 60_000 + 20 * requests }, async () => {
    const targets = fc.string({ unit: 'binary-ascii', maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(targets, fc.boolean(), async (text, isTarget) => {
        const answer = await sendRaw(isTarget ? requestOf(`/${text}`) : text, false);
        expect(answer).toMatch(/^($|HTTP\/1\.1 (200|4\d\d) )/);
        expect(errors).toEqual([]);
      }),
      { seed: 12, numRuns: requests },
    );
    expect(await sendRaw(requestOf('/'))).toMatch(/^HTTP\/1\.1 200 /);
  });
});
