import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { proofOf } from '../../../src-renderer/client/session-proof.ts';
import type { PageWire } from '../../../src-main/rpc/connection.ts';
import { ExportLinks } from '../../../src-main/server/export-links.ts';
import { type RunningServer, type ServerOptions, startServer } from '../../../src-main/server.ts';

/** A server over a page of two files. The test replaces the hub behind it. */
export async function serve({
  port = 0,
  sessionFolder = null,
}: Partial<Pick<ServerOptions, 'port' | 'sessionFolder'>> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-server-'));
  const pageFolder = join(folder, 'page');
  const exportFolder = join(folder, 'exports');
  await mkdir(pageFolder);
  await mkdir(exportFolder);
  await writeFile(join(folder, 'secret.html'), 'not for the page');
  await writeFile(join(folder, 'secret.zip'), 'not for the page');
  await writeFile(join(pageFolder, 'index.html'), '<h1>Runs</h1>');
  await writeFile(join(pageFolder, 'main.js'), 'go();');
  await writeFile(join(exportFolder, 'run-1.zip'), 'zipped');
  await writeFile(join(exportFolder, 'run-1.html'), 'a report');
  const pages: PageWire[] = [];
  const received: Uint8Array[] = [];
  let connected = 0;
  const roles: string[] = [];
  const connect = (wire: PageWire, role: string) => {
    roles.push(role);
    connected += 1;
    pages.push(wire);
    wire.onMessage((bytes) => received.push(bytes));
    return () => void (connected -= 1);
  };
  const errors: unknown[] = [];
  const notices: string[] = [];
  const exportLinks = new ExportLinks();
  const server = await startServer({
    port,
    sessionFolder,
    pageFolder,
    exportFolder,
    exportLinks,
    connect,
    onError: (error) => errors.push(error),
    onNotice: (text) => notices.push(text),
  });
  onTestFinished(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });
  return { server, pages, roles, received, errors, notices, exportLinks, connected: () => connected };
}

export interface Answer {
  status: number | undefined;
  headers: NodeJS.Dict<string | string[]>;
  body: string;
}

/** Unlike `fetch`, sends any Host and Origin, and paths unchanged. */
export function request(server: RunningServer, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: server.port, path, headers };
    get(options, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (body += chunk));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }));
    }).on('error', reject);
  });
}

export interface Credentials {
  cookie: string;
  key: string;
}

/** Uses the link. @returns what the browser then has */
export async function signIn(server: RunningServer, link = server.link): Promise<Credentials> {
  const answer = await request(server, `/${new URL(link).search}`);
  expect(answer.status).toBe(200);
  const key = /name="tutti-key" content="([\w-]{43})"/.exec(answer.body)?.[1] ?? '';
  const [cookie] = String(answer.headers['set-cookie']).split(';');
  return { cookie, key };
}

/** A challenge of the server, and the page's proof for it. */
export async function proofFor(server: RunningServer, { cookie, key }: Credentials): Promise<string> {
  const { body, status } = await request(server, '/challenge', { cookie });
  if (status !== 200) return 'none';
  return `${body}.${await proofOf(key, body)}`;
}

/** The headers of a page's WebSocket. */
export async function socketHeaders(server: RunningServer, credentials: Credentials): Promise<Record<string, string>> {
  const proof = await proofFor(server, credentials);
  return { cookie: credentials.cookie, 'sec-websocket-protocol': `tutti, ${proof}` };
}

/** @returns the status of a rejected upgrade, or 101 if it is accepted */
export function upgradeStatus(server: RunningServer, headers: Record<string, string>, path = '/rpc'): Promise<number> {
  const { 'sec-websocket-protocol': protocols, ...others } = headers;
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}${path}`, protocols?.split(', ') ?? [], {
    headers: others,
  });
  return new Promise((resolve) => {
    socket.on('error', () => undefined);
    socket.on('open', () => {
      socket.close();
      resolve(101);
    });
    socket.on('unexpected-response', (_request, response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
  });
}

export async function openSocket(server: RunningServer, credentials?: Credentials): Promise<WebSocket> {
  const given = credentials ?? (await signIn(server));
  const { cookie } = given;
  const proof = await proofFor(server, given);
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/rpc`, ['tutti', proof], { headers: { cookie } });
  await once(socket, 'open');
  return socket;
}
