import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { maximumCallBytes, rpcPath, rpcProtocol } from '../../core/protocol/pages/window.ts';
import type { PageRole } from '../../core/protocol/pages/rpc.ts';
import type { PageWire } from '../rpc/connection.ts';
import { errorCode } from '../../core/node/file-error.ts';
import { type Access, isRefusal, type Refusal } from './access.ts';

/** A page with more unread bytes is disconnected. It reconnects and reads everything again. */
const maximumBacklogBytes = 64 * 2 ** 20;
/** Codes of errors when a browser is closed, from reading and from writing. */
const browserHasGone: ReadonlySet<string | null> = new Set(['ECONNRESET', 'EPIPE']);
/**
 * Close codes of RFC 6455, section 7.4.1: 1008 for a policy violation; there is none for a slow peer, so 1013 stands
 * in.
 */
const policyViolation = 1008;
const tryAgainLater = 1013;

export interface PageSocketOptions {
  connect: (wire: PageWire, role: PageRole) => () => void;
  onError: (error: unknown) => void;
}

export interface AcceptedPages {
  /** Disconnects the pages of watchers, whose sessions have ended. */
  endWatchers: () => void;
  close: () => void;
}

/** Accepts WebSockets of pages from this server. They follow the same rules as other requests. */
export function acceptPages(server: Server, access: Access, options: PageSocketOptions): AcceptedPages {
  const watchers = new Set<WebSocket>();
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maximumCallBytes,
    perMessageDeflate: false,
    // The other subprotocol that the page requests is its key.
    handleProtocols: () => rpcProtocol,
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', (error) => {
      if (!browserHasGone.has(errorCode(error))) options.onError(error);
    });
    const foreign = access.refuseOrigin(request);
    if (foreign !== null) return refuse(socket, foreign);
    const session = access.fullSessionOf(request);
    if (isRefusal(session)) return refuse(socket, session);
    const wrongPath = refusePath(request);
    if (wrongPath !== null) return refuse(socket, wrongPath);
    sockets.handleUpgrade(request, socket, head, (page) => {
      if (session.role === 'watcher') watchers.add(page);
      page.on('close', () => watchers.delete(page));
      serve(page, session.role, options);
    });
  });
  return {
    endWatchers() {
      for (const page of watchers) page.close(policyViolation, 'This link was ended.');
    },
    close() {
      for (const page of sockets.clients) page.terminate();
      sockets.close();
    },
  };
}

function serve(page: WebSocket, role: PageRole, { connect, onError }: PageSocketOptions): void {
  const wire: PageWire = {
    send(bytes) {
      // A disconnected page needs no answer.
      if (page.readyState !== page.OPEN) return;
      if (page.bufferedAmount > maximumBacklogBytes) page.close(tryAgainLater, 'The page reads too slowly.');
      else page.send(bytes);
    },
    onMessage: (receive) => void page.on('message', (data: RawData) => receive(toBytes(data))),
    // The protocol allows 123 bytes of reason.
    refuse: (reason) => page.close(policyViolation, reason.slice(0, 100)),
  };
  const disconnect = connect(wire, role);
  page.on('close', disconnect);
  // An error that breaks the connection is followed by its close.
  page.on('error', (error) => onError(explainBreak(error)));
}

function explainBreak(error: Error): Error {
  if (errorCode(error) !== 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return error;
  return new Error(
    `A page sent a message of more than ${maximumCallBytes} bytes and was disconnected. A page of this version ` +
      'sends none: reload it.',
    { cause: error },
  );
}

function toBytes(data: RawData): Uint8Array {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? new Uint8Array(data) : data;
}

function refusePath({ url = '' }: IncomingMessage): Refusal | null {
  return url === rpcPath ? null : { status: 404, reason: `WebSockets are only accepted at ${rpcPath}.` };
}

function refuse(socket: Duplex, { status, reason }: Refusal): void {
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, 'Connection: close', 'Content-Type: text/plain'];
  socket.end([...head, `Content-Length: ${Buffer.byteLength(reason)}`, '', reason].join('\r\n'));
}
