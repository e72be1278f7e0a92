import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Channel } from '../../../core/protocol/wire/channel.ts';
import type { Frame } from '../../../core/protocol/wire/frames.ts';
import { netAddress, socketAddress } from '../../../core/protocol/wire/local-socket.ts';
import { listen, type SocketServer } from '../../../src-main/relay/socket-server.ts';
import { connect } from '../../../workers/collectives/socket-channel.ts';

let folder: string;
let path: string;
const servers: SocketServer[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-socket-'));
  path = join(folder, 'hub.sock');
});

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  await rm(folder, { recursive: true });
});

async function start(): Promise<SocketServer> {
  const server = await listen(path);
  servers.push(server);
  return server;
}

const nextConnection = async (server: SocketServer): Promise<Channel> =>
  await new Promise((resolve) => server.onConnection(resolve));
const closing = async (channel: Channel): Promise<Error | null> =>
  await new Promise((resolve) => channel.onClose(resolve));
const message = (value: unknown): Frame => ({ kind: 'message', message: value, arrays: [] });

describe('a connection', () => {
  it('keeps the order of frames in both directions, far beyond the buffers of the socket', async () => {
    const server = await start();
    const worker = await connect(path, 1000);
    const hub = await nextConnection(server);
    hub.onFrame((frame) => hub.send(frame));
    const count = 200;
    const received: number[] = [];
    const done = new Promise<void>((resolve) => {
      worker.onFrame((frame) => {
        if (frame.kind !== 'message') return;
        const [array] = frame.arrays;
        expect(array.at(-1)).toBe(Number(frame.message));
        if (received.push(Number(frame.message)) === count) resolve();
      });
    });
    for (let index = 0; index < count; index += 1) {
      worker.send({ kind: 'message', message: index, arrays: [new Int32Array(1 + 500 * (index % 40)).fill(index)] });
    }
    await done;
    expect(received).toStrictEqual(Array.from({ length: count }, (_, index) => index));
  });

  it('sends queued data before it closes', async () => {
    const server = await start();
    const worker = await connect(path, 1000);
    const hub = await nextConnection(server);
    const bytes = new Uint8Array(4 * 2 ** 20).fill(9);
    const received = new Promise<Frame>((resolve) => hub.onFrame(resolve));
    const hubClosed = closing(hub);
    const workerClosed = closing(worker);
    worker.send({ kind: 'message', message: 'bye', arrays: [bytes] });
    worker.close();
    expect(await received).toStrictEqual({ kind: 'message', message: 'bye', arrays: [bytes] });
    expect(await hubClosed).toBeNull();
    expect(await workerClosed).toBeNull();
    expect(() => hub.send(message(1))).toThrow(/closed by the peer/);
  });

  it('notifies the worker when the hub is gone', async () => {
    const server = await start();
    const worker = await connect(path, 1000);
    await nextConnection(server);
    const closed = closing(worker);
    await server.close();
    servers.length = 0;
    await closed;
    expect(() => worker.send(message(1))).toThrow(/channel/);
  });

  it('notifies the hub when a worker was killed in the middle of a frame', async () => {
    const server = await start();
    const accepted = nextConnection(server);
    const script = `
      const socket = require('node:net').connect(${JSON.stringify(path)}, () => {
        socket.write(Buffer.from([100, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3]), () => process.kill(process.pid, 'SIGKILL'));
      });`;
    const child = spawn(process.execPath, ['-e', script]);
    const closed = closing(await accepted);
    await once(child, 'exit');
    expect((await closed)?.message).toBe('The connection ended in the middle of a frame.');
  });

  it('breaks alone if its peer sends invalid frames', async () => {
    const server = await start();
    const stranger = connectSocket(path);
    const strangeChannel = await nextConnection(server);
    const refused = closing(strangeChannel);
    const accepted = nextConnection(server);
    const worker = await connect(path, 1000);
    const hub = await accepted;
    stranger.end('GET / HTTP/1.1\r\n\r\n');
    expect((await refused)?.message).toMatch(/unknown kind of frame/);
    const answer = new Promise((resolve) => worker.onFrame(resolve));
    hub.send(message('still here'));
    expect(await answer).toStrictEqual(message('still here'));
  });

  it('can be one of more than a hundred', async () => {
    const server = await start();
    const accepted = new Set<Channel>();
    const all = new Promise<void>((resolve) => {
      server.onConnection((channel) => {
        if (accepted.add(channel).size === 120) resolve();
      });
    });
    await Promise.all(Array.from({ length: 120 }, async () => await connect(path, 5000)));
    await all;
    expect(accepted.size).toBe(120);
  });
});

describe('connecting', () => {
  it('fails immediately if nobody listens', async () => {
    await expect(connect(path, 60_000)).rejects.toThrow(`No hub listens on ${path}: connect ENOENT`);
  });

  it('fails if nobody accepts within the timeout', async () => {
    // With the queue of a stopped server full, further connections wait.
    const script = `
      const server = require('node:net').createServer().listen({ path: ${JSON.stringify(path)}, backlog: 1 }, () => {
        process.stdout.write('listening', () => process.kill(process.pid, 'SIGSTOP'));
      });`;
    const child = spawn(process.execPath, ['-e', script]);
    await once(child.stdout, 'data');
    const waiting = Array.from({ length: 4 }, () => connectSocket(path).on('error', () => {}));
    const outcome = await connect(path, 200).catch((error: Error) => error.message);
    for (const socket of waiting) socket.destroy();
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(outcome).toMatch(/did not accept the connection .* within 200 ms|EAGAIN/);
  });
});

describe('listening', () => {
  it('refuses a folder that others may enter', async () => {
    await chmod(folder, 0o755);
    await expect(listen(path)).rejects.toThrow(/has mode 755, so other users could connect.*chmod 700/);
  });

  it('refuses a path that is too long for a socket', async () => {
    await expect(listen(join(folder, 'x'.repeat(120)))).rejects.toThrow(/has \d+ bytes, and this system allows \d+/);
    await expect(connect(join(folder, 'x'.repeat(120)), 100)).rejects.toThrow(
      /Set TMPDIR to a folder with a shorter path/,
    );
  });

  it('refuses a socket that a living hub listens on, which stays alive', async () => {
    const server = await start();
    await expect(listen(path)).rejects.toThrow(/another hub listens there already/);
    const accepted = nextConnection(server);
    await connect(path, 1000);
    await accepted;
  });

  it('replaces a socket that a killed hub left behind', async () => {
    const script =
      `require('node:net').createServer().listen(${JSON.stringify(path)}, () => ` +
      `process.kill(process.pid, 'SIGKILL'))`;
    await once(spawn(process.execPath, ['-e', script]), 'exit');
    expect((await stat(path)).isSocket()).toBe(true);
    const accepted = nextConnection(await start());
    await connect(path, 1000);
    await accepted;
  });

  it('refuses to replace a file', async () => {
    await writeFile(path, 'precious');
    await expect(listen(path)).rejects.toThrow(/a file that is not a socket lies there/);
  });

  it('frees the path when it ends', async () => {
    const server = await listen(path);
    await server.close();
    await expect(stat(path)).rejects.toThrow('ENOENT');
  });
});

describe('the address of a socket', () => {
  it('is a pipe name without separators on Windows', () => {
    expect(socketAddress('C:\\Users\\ada\\scratch/hub.sock', 'win32')).toBe('tutti-C-Users-ada-scratch-hub.sock');
    expect(netAddress('C:\\Users\\ada\\scratch/hub.sock', 'win32')).toBe(
      String.raw`\\.\pipe\tutti-C-Users-ada-scratch-hub.sock`,
    );
    expect(netAddress('/tmp/hub.sock', 'linux')).toBe('/tmp/hub.sock');
  });

  it('counts bytes, not characters', () => {
    expect(socketAddress('x'.repeat(107), 'linux')).toHaveLength(107);
    expect(() => socketAddress('é'.repeat(54), 'linux')).toThrow(/has 108 bytes, and this system allows 107/);
    expect(() => socketAddress('x'.repeat(104), 'darwin')).toThrow(/allows 103/);
  });
});
