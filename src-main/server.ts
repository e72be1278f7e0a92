import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { toJson } from '../protocol/numbers.ts';
import type { ListedRun } from '../protocol/run-list.ts';
import { runEventsPath, runListPath } from '../protocol/window.ts';
import type { RunList } from './run-list.ts';
import { Access, type Refusal } from './server/access.ts';
import { readStaticFile } from './server/static-files.ts';

export interface ServerOptions {
  /** Where the built page lies. */
  pageFolder: string;
  runs: Pick<RunList, 'list' | 'subscribe'>;
  /** Told of requests that failed here. */
  onError(error: unknown): void;
}

export interface RunningServer {
  port: number;
  /** Opens the page once: its token is exchanged for a cookie. */
  link: string;
  close(): Promise<void>;
}

/** The page needs its own scripts, styles and events, and nothing else. */
const headers = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/** The door from the browser: serves page and run list on a random port of 127.0.0.1, to whoever has the printed link. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error(`The server listens on ${address}, not on a port.`);
  const access = new Access(address.port);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response, access, options).catch((error: unknown) => {
      options.onError(error);
      if (response.headersSent) response.destroy();
      else send(response, 500, 'text/plain', 'Tutti could not answer; its terminal says why.');
    });
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { port: address.port, link: access.link, close };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  access: Access,
  { pageFolder, runs }: ServerOptions,
): Promise<void> {
  const foreign = access.refuseOrigin(request);
  if (foreign !== null) return refuse(response, foreign);
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
  const cookie = access.exchange(searchParams.get('token') ?? '');
  if (cookie !== null) return send(response, 303, 'text/plain', '', { Location: '/', 'Set-Cookie': cookie });
  const stranger = access.refuseStranger(request);
  if (stranger !== null) return refuse(response, stranger);
  if (pathname === runListPath) return send(response, 200, 'application/json', toJson(await runs.list()));
  if (pathname === runEventsPath) return streamRuns(response, runs);
  const file = await readStaticFile(pageFolder, pathname);
  if (file === null) return send(response, 404, 'text/plain', `There is no ${pathname} here.`);
  send(response, 200, file.type, file.content);
}

/** Server-sent events, each a whole list; the first at once, so that a page that comes back has missed nothing. */
async function streamRuns(response: ServerResponse, runs: ServerOptions['runs']): Promise<void> {
  const tell = (list: ListedRun[]): void => void response.write(`data: ${toJson(list)}\n\n`);
  const first = await runs.list();
  response.writeHead(200, { ...headers, 'Content-Type': 'text/event-stream' });
  response.write('retry: 1000\n\n');
  tell(first);
  response.on('close', runs.subscribe(tell));
}

function refuse(response: ServerResponse, { status, reason }: Refusal): void {
  send(response, status, 'text/plain', reason);
}

function send(
  response: ServerResponse,
  status: number,
  type: string,
  content: string | Buffer,
  more: Record<string, string> = {},
): void {
  response.writeHead(status, { ...headers, 'Content-Type': type, ...more });
  response.end(content);
}
