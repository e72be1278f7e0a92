import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { PageWire } from './rpc/connection.ts';
import { Access, type Refusal } from './server/access.ts';
import { acceptPages } from './server/page-sockets.ts';
import { readStaticFile, sendExport } from './server/files.ts';
import { securityHeaders } from './server/security-headers.ts';

export interface ServerOptions {
  /** 0: any free port. */
  port: number;
  /** The folder of the built page. */
  pageFolder: string;
  /** The folder of exports, each one file. */
  exportFolder: string;
  /** Serves one page until the returned function is called. */
  connect: (wire: PageWire) => () => void;
  /** Called for requests that failed in the server. */
  onError: (error: unknown) => void;
}

export interface RunningServer {
  port: number;
  /** Opens the page. It works once, because its token is exchanged for a cookie. */
  link: string;
  close(): Promise<void>;
}

/** The URL path of an export. */
export const exportPath = (fileName: string): string => `/exports/${fileName}`;

/** Serves the page and the hub on a port of 127.0.0.1, to the browser that opens the printed link. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const server = createServer();
  const port = await listen(server, options.port);
  const access = new Access(port);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response, access, options).catch((error: unknown) => {
      options.onError(error);
      if (response.headersSent) response.destroy();
      else send(response, 500, 'text/plain', 'Tutti could not answer; see its terminal for the reason.');
    });
  });
  const pages = acceptPages(server, access, options);
  const close = () =>
    new Promise<void>((resolve) => {
      pages.close();
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { port, link: access.link, close };
}

/** @throws Error with the remedy if the port is in use or not allowed */
async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const reason = `Tutti cannot listen on port ${port} of 127.0.0.1 (${cause.message}).`;
      reject(new Error(`${reason} Choose another with --port, or omit it to use any free port.`, { cause }));
    });
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error(`The server listens on ${address}, not on a port.`);
  return address.port;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  access: Access,
  { pageFolder, exportFolder }: ServerOptions,
): Promise<void> {
  for (const [name, value] of Object.entries(securityHeaders(request.headers.host))) response.setHeader(name, value);
  const foreign = access.refuseOrigin(request);
  if (foreign !== null) return refuse(response, foreign);
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
  const cookie = access.exchange(searchParams.get('token') ?? '');
  if (cookie !== null) {
    response.setHeader('Location', '/').setHeader('Set-Cookie', cookie);
    return send(response, 303, 'text/plain', '');
  }
  const stranger = access.refuseStranger(request);
  if (stranger !== null) return refuse(response, stranger);
  if (pathname.startsWith(exportPath('')) && (await sendExport(response, exportFolder, pathname))) return;
  const file = await readStaticFile(pageFolder, pathname);
  if (file === null) return send(response, 404, 'text/plain', `There is no ${pathname} here.`);
  send(response, 200, file.type, file.content);
}

function refuse(response: ServerResponse, { status, reason }: Refusal): void {
  send(response, status, 'text/plain', reason);
}

function send(response: ServerResponse, status: number, type: string, content: string | Buffer): void {
  response.writeHead(status, { 'Content-Type': type });
  response.end(content);
}
