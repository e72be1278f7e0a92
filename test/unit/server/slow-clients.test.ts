import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createInferenceServer } from '../../../src-main/serving/inference-server.ts';
import { namesLoopback } from '../../../src-main/server/address.ts';
import { endSlowReaders, requestLimits } from '../../../src-main/server/http-server.ts';
import { counts, served } from '../serving/tensors.ts';

const limitMs = 300;

/** A server with the limits of all of Tutti's servers, but of 0.3 s instead of 30 s, and a client of it. */
async function clientOf(answer: RequestListener) {
  const limits = {
    ...requestLimits,
    requestTimeout: limitMs,
    headersTimeout: limitMs,
    connectionsCheckingInterval: 50,
  };
  const server = createServer(limits, answer);
  endSlowReaders(server, limitMs);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

describe('a slow client is disconnected', () => {
  it.each([
    { which: 'that sends nothing', text: '' },
    { which: 'that sends half of its headers', text: 'GET / HTTP/1.1\r\nHost: 127' },
    {
      which: 'that sends half of its body',
      text: 'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\nhalf',
    },
  ])('$which', async ({ text }) => {
    const socket = await clientOf((request, response) => request.on('end', () => response.end()).resume());
    if (text !== '') socket.write(text);
    socket.resume();
    await once(socket, 'close');
    expect(socket.destroyed).toBe(true);
  });

  it('that reads nothing of its answer', async () => {
    const ended = Promise.withResolvers<boolean>();
    const socket = await clientOf((_request, response) => {
      response.on('close', () => ended.resolve(response.writableFinished));
      response.end(Buffer.alloc(64 * 2 ** 20));
    });
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    expect(await ended.promise).toBe(false);
  });

  it('and not one that waits for an answer for longer', async () => {
    const socket = await clientOf((_request, response) => void setTimeout(() => response.end('late'), 4 * limitMs));
    socket.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toContain('late');
  });

  it('by the server of an ensemble as by the dashboard, after 30 s', () => {
    const server = createInferenceServer({
      ensemble: served,
      version: '1.2.3',
      batcher: { predict: () => Promise.reject(new Error('Nobody asks.')), counts },
      isReady: () => true,
      token: null,
      isOwnHost: () => true,
      maxBodyBytes: 1000,
      maxSamples: 4,
      onError: () => undefined,
    });
    const { requestTimeout, headersTimeout, timeout } = server;
    expect({ requestTimeout, headersTimeout, timeout }).toEqual({
      requestTimeout: 30_000,
      headersTimeout: 30_000,
      timeout: 30_000,
    });
  });
});

it.each([
  ['127.0.0.1:8080', true],
  ['localhost', true],
  ['LOCALHOST:9', true],
  ['[::1]:8080', true],
  ['127.9.9.9:1', true],
  ['', false],
  ['evil.example:8080', false],
  ['127.0.0.1.evil.example', false],
  ['localhost.evil.example:8080', false],
  ['10.0.0.1:8080', false],
  ['127.0.0.1:8080@evil.example', false],
])('the header "Host: %s" names this machine alone: %s', (header, isLoopback) => {
  expect(namesLoopback(header)).toBe(isLoopback);
});
