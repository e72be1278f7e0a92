import { lstat, stat, unlink } from 'node:fs/promises';
import { createConnection, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { IPCModule } from 'node-ipc';
import { freeMemory } from '../../core/protocol/wire/arrays.ts';
import { type Channel, StreamChannel } from '../../core/protocol/wire/channel.ts';
import { socketAddress } from '../../core/protocol/wire/local-socket.ts';

export interface SocketServer {
  /** Sets the handler of new connections. It receives earlier connections first. */
  onConnection(accept: (channel: Channel) => void): void;
  /** Breaks all connections and stops listening. */
  close(): Promise<void>;
}

/**
 * Listens on a Unix socket (a named pipe on Windows) in an existing folder that only its owner may enter. Rejects when
 * the path is too long, others may enter the folder, or something exists at the path. Replaces a socket without a
 * listener, which a killed hub left.
 *
 * The transport is node-ipc's raw mode, as in `workers/collectives/socket-channel.ts`.
 */
export async function listen(path: string): Promise<SocketServer> {
  const address = socketAddress(path, process.platform);
  if (process.platform !== 'win32') {
    await checkFolder(dirname(path));
    await removeStaleSocket(path);
  }
  const ipc = new IPCModule();
  // node-ipc would also unlink the socket of a running hub.
  Object.assign(ipc.config, { rawBuffer: true, silent: true, maxConnections: Infinity, unlink: false });
  ipc.serve(address);
  const connections = acceptConnections(ipc.server);
  await new Promise<void>((resolve, reject) => {
    ipc.server.on('start', resolve);
    // Later errors concern single connections, which report them.
    ipc.server.on('error', (cause) => reject(new Error(`Cannot listen on ${path}: ${cause.message}.`, { cause })));
    ipc.server.start();
  });
  return {
    onConnection: connections.onConnection,
    close: async () => await stop(ipc.server),
  };
}

function acceptConnections(server: IPCModule['server']): Pick<SocketServer, 'onConnection'> {
  const channels = new Map<Socket, StreamChannel>();
  let backlog: Channel[] = [];
  let accept = (channel: Channel): void => void backlog.push(channel);
  server.on('connect', (socket) => {
    const channel = serveSocket(server, socket);
    channels.set(socket, channel);
    socket.once('close', () => channels.delete(socket));
    accept(channel);
  });
  server.on('data', (chunk, socket) => {
    channels.get(socket)?.receiveBytes(chunk);
    freeMemory(chunk);
  });
  return {
    onConnection(newAccept) {
      accept = newAccept;
      for (const channel of backlog) accept(channel);
      backlog = [];
    },
  };
}

function serveSocket(server: IPCModule['server'], socket: Socket): StreamChannel {
  let failure: Error | null = null;
  const channel = new StreamChannel({
    write(parts) {
      socket.cork();
      for (const part of parts) server.emit(socket, Buffer.from(part.buffer, part.byteOffset, part.byteLength));
      socket.uncork();
    },
    end: () => socket.end(),
    destroy: () => socket.destroy(),
  });
  socket.once('error', (error) => {
    failure = error;
  });
  socket.once('close', () => channel.streamClosed(failure));
  return channel;
}

async function stop(server: IPCModule['server']): Promise<void> {
  await new Promise<void>((resolve) => {
    server.server.once('close', () => resolve());
    server.stop();
  });
}

async function checkFolder(folder: string): Promise<void> {
  const { mode } = await stat(folder);
  if ((mode & 0o077) !== 0) {
    throw new Error(
      `The folder ${folder} of the hub's socket has mode ${(mode & 0o777).toString(8)}, so other users could ` +
        'connect. Only its owner may enter it: chmod 700.',
    );
  }
}

async function removeStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (found === null) return;
  if (!found.isSocket())
    throw new Error(`Cannot listen on ${path}: a file that is not a socket lies there. Move it away.`);
  if (await isAnswered(path)) {
    throw new Error(`Cannot listen on ${path}: another hub listens there already. Stop it, or use another folder.`);
  }
  await unlink(path);
}

async function isAnswered(path: string): Promise<boolean> {
  return await new Promise((resolve, reject) => {
    const probe = createConnection(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(false);
      else reject(error);
    });
  });
}
