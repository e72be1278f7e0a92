import { TimeLimit } from '../../core/node/time-limit.ts';
import { freeMemory } from '../../core/protocol/wire/arrays.ts';
import { type Channel, StreamChannel } from '../../core/protocol/wire/channel.ts';
import { socketAddress } from '../../core/protocol/wire/local-socket.ts';
import { IPCModule } from 'node-ipc';

/**
 * Connects to the hub's socket without retries: the hub listens before it starts a worker. Rejects when no process
 * listens there, or none accepts within `timeoutMs`.
 *
 * The transport is node-ipc's raw mode, which passes bytes on unchanged; the frames are Tutti's. The version is pinned
 * because releases 9.1.6, 9.2.2, 9.2.3, 10.1.1, 10.1.2, 11.x and 12.0.1 carried malware.
 */
export async function connect(path: string, timeoutMs: number): Promise<Channel> {
  const ipc = new IPCModule();
  Object.assign(ipc.config, { rawBuffer: true, silent: true, maxRetries: 0, stopRetrying: true });
  ipc.connectTo('hub', socketAddress(path, process.platform));
  const client = ipc.of['hub'];
  if (client === undefined) throw new Error(`node-ipc did not open a connection to ${path}.`);
  const channel = channelOver(client);
  return await new Promise((resolve, reject) => {
    let failure: Error | null = null;
    const limit = new TimeLimit(timeoutMs, () => {
      ipc.disconnect('hub');
      reject(new Error(`The hub did not accept the connection to ${path} within ${timeoutMs} ms.`));
    });
    client.on('connect', () => {
      limit.stop();
      resolve(channel);
    });
    client.on('error', (error) => {
      failure = error;
    });
    client.on('disconnect', () => {
      limit.stop();
      channel.streamClosed(failure);
      reject(
        new Error(`No hub listens on ${path}: ${failure?.message ?? 'the connection was closed'}.`, { cause: failure }),
      );
    });
  });
}

function channelOver(client: IPCModule['of'][string]): StreamChannel {
  const channel = new StreamChannel({
    write(parts) {
      client.socket.cork();
      for (const part of parts) client.emit(Buffer.from(part.buffer, part.byteOffset, part.byteLength));
      client.socket.uncork();
    },
    end: () => client.socket.end(),
    destroy: () => client.socket.destroy(),
  });
  client.on('data', (chunk) => {
    channel.receiveBytes(chunk);
    freeMemory(chunk);
  });
  return channel;
}
