import { asError } from '../../text/errors.ts';
import { FrameDecoder } from './frame-decoder.ts';
import { encodeFrame } from './frame-encoder.ts';
import type { Frame } from './frames.ts';
import { runSoon } from '../../text/host.ts';
import { freeMemory } from './arrays.ts';

/** A duplex connection that carries whole frames, in order, to exactly one peer. */
export interface Channel {
  /**
   * Queues a frame. Does not copy a collective's array, which must not change until the peer has answered.
   * @throws when the channel is closed: no frame is dropped silently
   */
  send(frame: Frame): void;
  /** Sets the only receiver. It first receives the frames that arrived before. */
  onFrame(receive: (frame: Frame) => void): void;
  /** Sets a listener, which is called once, with an error if the connection broke; at once if it is closed already. */
  onClose(closed: (error: Error | null) => void): void;
  /** Ends the connection once all queued frames have been sent. Ignores later frames. */
  close(): void;
}

/** The writing end of a channel's byte stream. */
export interface ByteSink {
  /** Queues bytes, part after part. */
  write(parts: Uint8Array[]): void;
  /** Ends the stream after the queued bytes. */
  end(): void;
  /** Ends the stream at once. */
  destroy(): void;
}

/** A channel over a byte stream. The stream's owner calls `receiveBytes` and `streamClosed`. */
export class StreamChannel implements Channel {
  readonly #sink: ByteSink;
  readonly #decoder = new FrameDecoder();
  #backlog: Frame[] = [];
  #receive: ((frame: Frame) => void) | null = null;
  #closed: ((error: Error | null) => void) | null = null;
  /** Why the channel no longer sends and receives; null while it does. */
  #ending: 'closed here' | 'closed by the peer' | Error | null = null;
  #isStreamClosed = false;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  /** Whether frames can still be sent. */
  get isOpen(): boolean {
    return this.#ending === null;
  }

  send(frame: Frame): void {
    if (this.#ending instanceof Error) {
      throw new Error(`The channel broke: ${this.#ending.message}`, { cause: this.#ending });
    }
    if (this.#ending !== null) throw new Error(`The channel was ${this.#ending}; it can no longer send.`);
    this.#sink.write(encodeFrame(frame));
  }

  onFrame(receive: (frame: Frame) => void): void {
    this.#receive = receive;
    const backlog = this.#backlog;
    this.#backlog = [];
    for (const frame of backlog) receive(frame);
  }

  onClose(closed: (error: Error | null) => void): void {
    this.#closed = closed;
    if (this.#isStreamClosed) this.#reportClose();
  }

  close(): void {
    if (this.#ending !== null) return;
    this.#ending = 'closed here';
    this.#sink.end();
  }

  /** Called when bytes have arrived. */
  receiveBytes(chunk: Uint8Array): void {
    if (this.#ending !== null) return;
    for (const frame of this.#decode(chunk)) {
      if (this.#receive === null) this.#backlog.push(frame);
      else if (this.#ending === null) this.#receive(frame);
    }
  }

  /** Called when the stream has ended, with an error if it broke. */
  streamClosed(error: Error | null): void {
    if (this.#isStreamClosed) return;
    this.#isStreamClosed = true;
    const cut = this.#decoder.isInsideFrame ? new Error('The connection ended in the middle of a frame.') : null;
    this.#ending ??= error ?? cut ?? 'closed by the peer';
    this.#reportClose();
  }

  #decode(chunk: Uint8Array): Frame[] {
    try {
      return this.#decoder.push(chunk);
    } catch (error) {
      this.#ending = asError(error);
      this.#sink.destroy();
      this.streamClosed(null);
      return [];
    }
  }

  #reportClose(): void {
    const closed = this.#closed;
    this.#closed = null;
    closed?.(this.#ending instanceof Error ? this.#ending : null);
  }
}

/**
 * Two channels joined in memory. They behave like sockets: frames arrive asynchronously, as bytes, and share no memory.
 */
export function createChannelPair(): [Channel, Channel] {
  const first: StreamChannel = new StreamChannel(sinkInto(() => [second, first]));
  const second: StreamChannel = new StreamChannel(sinkInto(() => [first, second]));
  return [first, second];
}

function sinkInto(ends: () => [peer: StreamChannel, self: StreamChannel]): ByteSink {
  const end = (): void => {
    runSoon(() => {
      for (const channel of ends()) channel.streamClosed(null);
    });
  };
  return {
    write(parts) {
      const copies = parts.map((part) => part.slice());
      runSoon(() => {
        for (const copy of copies) ends()[0].receiveBytes(copy);
      });
    },
    end,
    destroy: end,
  };
}

/** The file descriptor of the pipe to the hub, in a process that the hub started to answer questions. */
export const hubPipe = 3;

/** What a channel needs of a socket, or of a pipe that carries both directions (`net.Socket`). */
interface ByteStream {
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
