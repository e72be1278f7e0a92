import { once } from 'node:events';
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type Server,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { listen } from '../../../src-main/server/http-server.ts';

interface Question {
  method?: 'GET' | 'HEAD' | 'POST';
  url: string;
  headers?: OutgoingHttpHeaders;
  /** Is sent as JSON unless it is text or bytes. */
  body?: object | string;
}

interface Answer {
  statusCode: number | undefined;
  headers: IncomingHttpHeaders;
  rawPayload: Buffer;
  body: string;
  json: () => unknown;
}

/** Lets a server listen until the test has finished. `ask`, unlike `fetch`, sends any Host, and addresses unchanged. */
export function listening(server: Server) {
  const port = listen(server, 0, '127.0.0.1', '');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const ask = async ({ method = 'GET', url, headers = {}, body }: Question): Promise<Answer> => {
    const isJson = typeof body === 'object' && !Buffer.isBuffer(body);
    const type = isJson ? { 'content-type': 'application/json' } : {};
    const options = { host: '127.0.0.1', port: await port, method, path: url, headers: { ...type, ...headers } };
    const asked = request(options).end(isJson ? JSON.stringify(body) : body);
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    const rawPayload = await buffer(response);
    const text = rawPayload.toString();
    const json = (): unknown => JSON.parse(text);
    return { statusCode: response.statusCode, headers: response.headers, rawPayload, body: text, json };
  };
  const end = (): Promise<void> => new Promise((ended) => server.close(() => ended()));
  return { ask, end, origin: port.then((own) => `http://127.0.0.1:${own}`) };
}
