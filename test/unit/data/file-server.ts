import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';

export interface FileServer {
  url: string;
  /** Headers of all requests so far. */
  requests: IncomingHttpHeaders[];
}

/** An HTTP server on 127.0.0.1 for the running test. It closes with all its connections after the test. */
export async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<FileServer> {
  const requests: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    requests.push(request.headers);
    answer(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return { url: `http://127.0.0.1:${address.port}/file.bin`, requests };
}

/** Answers like a file server with ranges and ETags (RFC 9110). After `bytes` it stalls. */
export function sendFile(
  content: Buffer,
  request: IncomingMessage,
  response: ServerResponse,
  { etag = '"1"', bytes = Infinity } = {},
): void {
  const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  const condition = request.headers['if-range'];
  const partial = start > 0 && (condition === undefined || condition === etag);
  const body = partial ? content.subarray(start) : content;
  response.writeHead(partial ? 206 : 200, {
    etag,
    'content-length': body.length,
    ...(partial && { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` }),
  });
  if (bytes >= body.length) response.end(body);
  else response.write(body.subarray(0, bytes));
}
