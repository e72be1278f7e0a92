import { freeMemory } from './arrays.ts';
import { StreamChannel } from './channel.ts';

/** The file descriptor of the pipe to the hub, in a process that the hub started to answer questions. */
export const hubPipe = 3;

/** What a channel needs of a socket, or of a pipe that carries both directions (`net.Socket`). */
export interface ByteStream {
  cork(): void;
  uncork(): void;
  write(bytes: Uint8Array): unknown;
  end(): unknown;
  destroy(): unknown;
  on(event: 'data', received: (chunk: Uint8Array) => void): unknown;
  on(event: 'error', failed: (error: Error) => void): unknown;
  on(event: 'close', closed: () => void): unknown;
}

/** A channel over a byte stream. Messages that are sent before its connection is established wait for it. */
export function channelOver(stream: ByteStream): StreamChannel {
  let failure: Error | null = null;
  const channel = new StreamChannel({
    write(parts) {
      stream.cork();
      for (const part of parts) stream.write(part);
      stream.uncork();
    },
    end: () => stream.end(),
    destroy: () => stream.destroy(),
  });
  stream.on('data', (chunk) => {
    channel.receiveBytes(chunk);
    freeMemory(chunk);
  });
  stream.on('error', (error) => (failure = error));
  stream.on('close', () => channel.streamClosed(failure));
  return channel;
}
