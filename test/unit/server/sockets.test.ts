import { once } from 'node:events';
import { get } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { RunningServer } from '../../../src-main/server.ts';
import { openSocket, serve, signIn, socketHeaders, upgradeStatus } from './served.ts';

/** An accepted socket, as bytes. The test decides how it ends. */
async function openRawSocket(server: RunningServer): Promise<Socket> {
  const handshake = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
  };
  const headers = { ...(await socketHeaders(server, await signIn(server))), ...handshake };
  const [, socket] = await once(get({ host: '127.0.0.1', port: server.port, path: '/rpc', headers }), 'upgrade');
  return socket;
}

/** RFC 6455, section 5.5.1: a masked frame (of mask 0) with code 1001, "going away". */
const goingAway = Uint8Array.of(0x88, 0x82, 0, 0, 0, 0, 1001 >> 8, 1001 & 255);

describe('sockets', () => {
  it('are refused by the same rules as requests', async () => {
    const { server, connected } = await serve();
    const credentials = await signIn(server);
    const session = await socketHeaders(server, credentials);
    const own = `http://127.0.0.1:${server.port}`;
    expect(await upgradeStatus(server, {})).toBe(401);
    expect(await upgradeStatus(server, { cookie: `tutti-${server.port}=guess` })).toBe(401);
    expect(await upgradeStatus(server, { ...session, origin: 'http://evil.example' })).toBe(403);
    expect(await upgradeStatus(server, { ...session, origin: `http://127.0.0.1:${server.port + 1}` })).toBe(403);
    expect(await upgradeStatus(server, { ...session, host: `evil.example:${server.port}` })).toBe(403);
    expect(await upgradeStatus(server, session, '/other')).toBe(404);
    expect(connected()).toBe(0);
    // The challenge was used up at the wrong path.
    expect(await upgradeStatus(server, { ...session, origin: own })).toBe(401);
    const next = await socketHeaders(server, credentials);
    expect(await upgradeStatus(server, { ...next, origin: own })).toBe(101);
  });

  it('do not accept the token of the link, used or not', async () => {
    const { server } = await serve();
    expect(await upgradeStatus(server, {}, `/rpc${new URL(server.link).search}`)).toBe(401);
  });

  it('carry bytes both ways, and end with the page', async () => {
    const { server, pages, received, connected } = await serve();
    const socket = await openSocket(server);
    socket.send(Uint8Array.of(1, 2, 3));
    await expect.poll(() => received.map((bytes) => [...bytes])).toEqual([[1, 2, 3]]);
    const answered = once(socket, 'message');
    pages[0].send(Uint8Array.of(4, 5));
    expect([...(await answered)[0]]).toEqual([4, 5]);
    socket.terminate();
    await expect.poll(connected).toBe(0);
    expect(() => pages[0].send(Uint8Array.of(6))).not.toThrow();
  });

  it('give the reason when they reject a page', async () => {
    const { server, pages } = await serve();
    const socket = await openSocket(server);
    const closed = once(socket, 'close');
    pages[0].refuse('That was no call.');
    const [code, reason] = await closed;
    expect([code, String(reason)]).toEqual([1008, 'That was no call.']);
  });

  it('close at a message that is too large for a call', async () => {
    const { server, received, errors } = await serve();
    const socket = await openSocket(server);
    const closed = once(socket, 'close');
    socket.send(new Uint8Array(2 ** 20 + 1));
    expect((await closed)[0]).toBe(1009);
    expect(received).toEqual([]);
    expect(errors.map(String)).toEqual([
      'Error: A page sent a message of more than 1048576 bytes and was disconnected. A page of this ' +
        'version sends none: reload it.',
    ]);
  });

  it.each([
    ['with a farewell', [goingAway]],
    ['without one', []],
  ])('treat a browser that ends %s as gone, not as an error', async (_how, lastWords) => {
    const { server, pages, connected, errors } = await serve();
    const socket = await openRawSocket(server);
    await expect.poll(connected).toBe(1);
    for (const words of lastWords) socket.write(words);
    socket.destroy();
    // The connection breaks here, before the server has read the browser's last message, to which it never replies.
    pages[0].send(Uint8Array.of(1));
    await expect.poll(connected).toBe(0);
    expect(errors).toEqual([]);
  });

  it('end with the server', async () => {
    const { server, connected } = await serve();
    const closed = once(await openSocket(server), 'close');
    await server.close();
    await closed;
    expect(connected()).toBe(0);
  });
});
