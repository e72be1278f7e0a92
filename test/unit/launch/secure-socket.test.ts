import { connect } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { connectSecurely, type Purpose, SecureServer } from '../../../src-main/nodes/secure/secure-socket.ts';

const servers: SecureServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function echo(): Promise<{ server: SecureServer; purposes: Purpose[] }> {
  const purposes: Purpose[] = [];
  const server = await SecureServer.listen((socket, purpose) => {
    purposes.push(purpose);
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  servers.push(server);
  return { server, purposes };
}

const at = ({ port }: SecureServer, hosts = ['127.0.0.1']) => ({ hosts, port });

describe('connections between nodes', () => {
  it('carry bytes both ways, and say what they are for', async () => {
    const { server, purposes } = await echo();
    const socket = await connectSecurely(at(server), server.token, 'rank', 5_000);
    socket.write('tensors');
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    expect(bytes.toString()).toBe('tensors');
    expect(socket.getCipher()).toMatchObject({ standardName: 'TLS_ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256' });
    expect(purposes).toEqual(['rank']);
    socket.destroy();
  });

  it('are refused to those with another token', async () => {
    const { server, purposes } = await echo();
    await expect(connectSecurely(at(server), `${server.token}x`, 'task', 5_000)).rejects.toThrow('127.0.0.1: ');
    expect(purposes).toEqual([]);
  });

  it('try one host after the other', async () => {
    const { server } = await echo();
    const socket = await connectSecurely(at(server, ['127.0.0.2.invalid', '127.0.0.1']), server.token, 'task', 5_000);
    expect(socket.authorized || socket.encrypted).toBe(true);
    socket.destroy();
  });

  it('with a stranger who speaks no TLS end without harm to others', async () => {
    const { server, purposes } = await echo();
    const stranger = connect(server.port, '127.0.0.1');
    stranger.on('error', () => undefined);
    stranger.end('GET / HTTP/1.1\r\n\r\n');
    await once(stranger, 'close');
    const socket = await connectSecurely(at(server), server.token, 'task', 5_000);
    expect(purposes).toEqual(['task']);
    socket.destroy();
  });

  it('break when the server closes, also those of a node that would never end its own', async () => {
    const { server } = await echo();
    const socket = await connectSecurely(at(server), server.token, 'rank', 5_000);
    socket.on('error', () => undefined);
    server.close();
    await once(socket, 'close');
    expect(socket.destroyed).toBe(true);
  });
});
