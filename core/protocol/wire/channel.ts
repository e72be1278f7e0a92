import { FrameDecoder } from './frame-decoder.ts';
import { encodeFrame } from './frame-encoder.ts';
import type { Frame } from './frames.ts';
import { runSoon } from './host.ts';

/** A duplex connection that carries whole frames, in order, to exactly one peer. */
export interface Channel {
  /**
   * Queues a frame. Throws when the channel is closed: a frame is never dropped in silence. A collective's array is not
   * copied and must stay as it is until the peer has answered.
   */
  send(frame: Frame): void;
  /** Sets the one receiver. Frames that arrived before are delivered to it first. */
  onFrame(receive: (frame: Frame) => void): void;
  /** Called once, with the error when the connection broke rather than ended; at once where that has happened already. */
  onClose(closed: (error: Error | null) => void): void;
  /** Ends the connection once everything queued has been sent. Nothing is received any more. */
  close(): void;
}

/** The writing end of what carries a channel's bytes. */
export interface ByteSink {
  /** Queues bytes, part after part. */
  write(parts: Uint8Array[]): void;
  /** Ends the stream after what was queued. */
  end(): void;
  /** Ends the stream at once. */
  destroy(): void;
}

/** A channel over a stream of bytes, which reports to `receiveBytes` and `streamClosed`. */
export class StreamChannel implements Channel {
  readonly #sink: ByteSink;
  readonly #decoder = new FrameDecoder();
  #backlog: Frame[] = [];
  #receive: ((frame: Frame) => void) | null = null;
  #closed: ((error: Error | null) => void) | null = null;
  /** Why nothing can be sent or received any more; null while it can. */
  #ending: 'closed here' | 'closed by the peer' | Error | null = null;
  #isStreamClosed = false;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  send(frame: Frame): void {
    if (this.#ending instanceof Error) {
      throw new Error(`The channel broke: ${this.#ending.message}`, { cause: this.#ending });
    }
    if (this.#ending !== null) throw new Error(`The channel was ${this.#ending}; nothing can be sent any more.`);
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

  /** For the stream: bytes arrived. */
  receiveBytes(chunk: Uint8Array): void {
    if (this.#ending !== null) return;
    for (const frame of this.#decode(chunk)) {
      if (this.#receive === null) this.#backlog.push(frame);
      else if (this.#ending === null) this.#receive(frame);
    }
  }

  /** For the stream: it is over, with an error where it broke. */
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
      this.#ending = error instanceof Error ? error : new Error(String(error));
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

/** Two channels joined in memory. They behave as sockets do: frames arrive later, as bytes, and share nothing. */
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
