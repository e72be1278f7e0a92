import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { errorCode, explainFileError } from '../../core/node/file-error.ts';
import type { Identity } from './certificate.ts';

/** What Tutti's servers have in common: that of the dashboard, and that of an ensemble (`tutti serve`). */

/** A client that sends its request, or reads its answer, more slowly is disconnected. */
const slowClientMs = 30_000;

/** Limits for Node's servers of HTTP. Node looks for slow requests only every half a minute by default. */
export const requestLimits = {
  requestTimeout: slowClientMs,
  headersTimeout: slowClientMs,
  connectionsCheckingInterval: 1_000,
} as const;

/** A server with these limits. @param identity the certificate and key for TLS; null: no TLS */
export function createHttpServer(identity: Identity | null): Server {
  const server = identity === null ? createServer(requestLimits) : createSecure(identity);
  endSlowReaders(server);
  return server;
}

function createSecure({ chain, key }: Identity): Server {
  return createSecureServer({ ...requestLimits, cert: chain, key, minVersion: 'TLSv1.2', handshakeTimeout: 30_000 });
}

/**
 * Disconnects clients that read nothing of an answer for 30 s. One that waits for an answer has not got any of it yet,
 * and stays.
 * @param limitMs another time, for tests
 */
export function endSlowReaders(server: Server, limitMs = slowClientMs): void {
  server.setTimeout(limitMs, (socket: Socket) => {
    if (socket.writableLength > 0) socket.destroy();
  });
}

/** Answers requests. What `answer` throws is told to `onError` alone, because it may name files of this machine. */
export function answerRequests(
  server: Server,
  onError: (error: unknown) => void,
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): void {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response).catch((error: unknown) => {
      onError(error);
      if (response.headersSent) response.destroy();
      else send(response, 500, 'text/plain', 'Tutti could not answer; see its terminal for the reason.');
    });
  });
}

export function send(
  response: ServerResponse,
  status: number,
  type: string,
  content: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries({ 'Content-Type': type, ...headers })) response.setHeader(name, value);
  response.end(content);
}

/**
 * @param remedy what to do where the port is in use or not allowed
 * @returns the port, which is the given one unless that is 0
 * @throws Error with the remedy
 */
export async function listen(server: Server, port: number, host: string, remedy: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      if (['EMFILE', 'ENFILE'].includes(errorCode(cause) ?? ''))
        return reject(explainFileError(cause, `port ${port} of ${host}`, 'listen on'));
      reject(new Error(`Tutti cannot listen on port ${port} of ${host} (${cause.message}). ${remedy}`, { cause }));
    });
    server.listen(port, host === 'localhost' ? '127.0.0.1' : host, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error(`The server listens on ${address}, not on a port.`);
  return address.port;
}
