import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { tutti } from '../core/text/program.ts';
import type { PageRole } from '../core/protocol/pages/rpc.ts';
import type { PageWire } from './rpc/connection.ts';
import { Access } from './server/access.ts';
import { certifiedAddress, isLoopback, loopbackAddress, ownHost, type ServerAddress } from './server/address.ts';
import { answer } from './server/answer.ts';
import type { Identity } from './server/certificate.ts';
import type { ExportLinks } from './server/export-links.ts';
import { answerRequests, createHttpServer, listen } from './server/http-server.ts';
import { acceptPages } from './server/page-sockets.ts';
import { lastPort, SessionFile } from './server/kept-sessions.ts';
import { securityHeaders } from './server/security-headers.ts';
import { WrongAttempts } from './server/wrong-attempts.ts';

export interface ServerOptions {
  /** The address to listen on; by default 127.0.0.1. Any that other machines reach needs `identity`. */
  host?: string;
  /** 0: any free port. */
  port: number;
  /**
   * Keeps the owner's sessions for the next server on the same port, in a folder of this user alone; null: they end
   * with the server.
   */
  sessionFolder?: string | null;
  /** The certificate and key for TLS. */
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
  /** Another link that opens the page. It works once. */
  newLink: () => string;
  /** A link that lets another browser watch runs. It works once. */
  newWatchLink: () => string;
  /** Ends the sessions of watchers, and makes their unopened links void. */
  endWatchers: () => void;
  /** Resolves when a link was opened for the first time. */
  entered: Promise<void>;
  close(): Promise<void>;
}

const askAgainMs = 5_000;

/** Serves the page and the hub on a port, to the browser that opens the printed link. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { host = '127.0.0.1', identity = null, onNotice } = options;
  if (identity === null && !isLoopback(host)) {
    throw new Error(
      `Other machines reach ${host}, which needs TLS: nobody may read along. Give a certificate and its key.`,
    );
  }
  const server = createHttpServer(identity);
  const folder = options.sessionFolder ?? null;
  const port = await listenAt(server, options.port, host, folder);
  const address = identity === null ? loopbackAddress(port, host) : certifiedAddress(port, host, identity.certificate);
  const file = folder === null ? null : new SessionFile(folder, port, onNotice);
  const access = new Access(address, new WrongAttempts(onNotice), file);
  const entered = Promise.withResolvers<void>();
  const showLink = showAtMostOften(() => onNotice(`A browser asks for a link:  ${access.newLink('owner')}`));
  const content = { ...options, onEnter: entered.resolve, showLink };
  answerRequests(server, options.onError, (request, response) => {
    secure(request, response, address);
    return answer(request, response, access, content);
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
    newLink: () => access.newLink('owner'),
    newWatchLink: () => access.newLink('watcher'),
    endWatchers: () => {
      access.endWatchers();
      pages.endWatchers();
    },
    entered: entered.promise,
    close,
  };
}

/** Calls `show` at most once in 5 s, so that nobody floods the terminal. */
function showAtMostOften(show: () => void): () => void {
  let shownMs = -Infinity;
  return () => {
    const nowMs = performance.now();
    if (nowMs - shownMs < askAgainMs) return;
    shownMs = nowMs;
    show();
  };
}

function secure({ headers: { host = '' } }: IncomingMessage, response: ServerResponse, address: ServerAddress): void {
  const socketOrigin = ownHost(host, address) === null ? null : `${address.isSecure ? 'wss' : 'ws'}://${host}`;
  for (const [name, value] of Object.entries(securityHeaders(socketOrigin))) response.setHeader(name, value);
}

/** Without a chosen port, takes the one of the last server if it is free, so that its pages find the way back. */
async function listenAt(server: Server, port: number, host: string, sessionFolder: string | null): Promise<number> {
  const last = port === 0 && sessionFolder !== null ? lastPort(sessionFolder) : null;
  const running = `If Tutti runs there, \`${tutti} dashboard --link\` prints a new link to it.`;
  const remedy = `${running} Otherwise choose another with --port, or omit it to use any free port.`;
  if (last === null) return listen(server, port, host, remedy);
  return listen(server, last, host, remedy).catch(() => listen(server, 0, host, remedy));
}
