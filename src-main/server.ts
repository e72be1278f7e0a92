import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { PageRole } from '../core/protocol/pages/rpc.ts';
import type { PageWire } from './rpc/connection.ts';
import { Access } from './server/access.ts';
import { certifiedAddress, isLoopback, loopbackAddress, ownHost, type ServerAddress } from './server/address.ts';
import { answer, send } from './server/answer.ts';
import type { Identity } from './server/certificate.ts';
import type { ExportLinks } from './server/export-links.ts';
import { acceptPages } from './server/page-sockets.ts';
import { securityHeaders } from './server/security-headers.ts';
import { WrongAttempts } from './server/wrong-attempts.ts';

export interface ServerOptions {
  /** The address to listen on; by default 127.0.0.1. Any that other machines reach needs `identity`. */
  host?: string;
  /** 0: any free port. */
  port: number;
  /** For TLS. */
  identity?: Identity | null;
  /** The folder of the built page. */
  pageFolder: string;
  /** The folder of exports, each one file. */
  exportFolder: string;
  exportLinks: ExportLinks;
  /** Serves one page until the returned function is called. */
  connect: (wire: PageWire, role: PageRole) => () => void;
  /** Called for requests that failed in the server. */
  onError: (error: unknown) => void;
  /** Called with what the user of the terminal should know. */
  onNotice: (text: string) => void;
}

export interface RunningServer {
  port: number;
  /** Opens the page. It works once, because its token is exchanged for a session. */
  link: string;
  /** A link that lets another browser watch runs. It works once. */
  newWatchLink: () => string;
  /** Ends the sessions of watchers, and makes their unopened links void. */
  endWatchers: () => void;
  /** Resolves when a link was opened for the first time. */
  entered: Promise<void>;
  close(): Promise<void>;
}

/** A client that sends its request more slowly is disconnected. */
const requestTimeoutMs = 30_000;

/** Serves the page and the hub on a port, to the browser that opens the printed link. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { host = '127.0.0.1', identity = null } = options;
  if (identity === null && !isLoopback(host)) {
    throw new Error(
      `Other machines reach ${host}, which needs TLS: nobody may read along. Give a certificate and its key.`,
    );
  }
  const server = createFor(identity);
  const port = await listen(server, options.port, host);
  const address = identity === null ? loopbackAddress(port, host) : certifiedAddress(port, host, identity.certificate);
  const access = new Access(address, new WrongAttempts(options.onNotice));
  const entered = Promise.withResolvers<void>();
  const content = { ...options, onEnter: entered.resolve };
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    secure(request, response, address);
    answer(request, response, access, content).catch((error: unknown) => {
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
  return {
    port,
    link: access.newLink('owner'),
    newWatchLink: () => access.newLink('watcher'),
    endWatchers: () => {
      access.endWatchers();
      pages.endWatchers();
    },
    entered: entered.promise,
    close,
  };
}

function createFor(identity: Identity | null): Server {
  const limits = { requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs };
  if (identity === null) return createServer(limits);
  return createSecureServer({ ...limits, cert: identity.chain, key: identity.key, minVersion: 'TLSv1.2' });
}

function secure({ headers: { host = '' } }: IncomingMessage, response: ServerResponse, address: ServerAddress): void {
  const socketOrigin = ownHost(host, address) === null ? null : `${address.isSecure ? 'wss' : 'ws'}://${host}`;
  for (const [name, value] of Object.entries(securityHeaders(socketOrigin))) response.setHeader(name, value);
}

/** @throws Error with the remedy if the port is in use or not allowed */
async function listen(server: Server, port: number, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const reason = `Tutti cannot listen on port ${port} of ${host} (${cause.message}).`;
      reject(new Error(`${reason} Choose another with --port, or omit it to use any free port.`, { cause }));
    });
    server.listen(port, host === 'localhost' ? '127.0.0.1' : host, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error(`The server listens on ${address}, not on a port.`);
  return address.port;
}
