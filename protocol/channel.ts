import type { Frame } from './frames.ts';

/** A duplex connection that carries whole frames, in order, to exactly one peer. */
export interface Channel {
  /** Queues a frame. Throws when the channel is closed: a frame is never dropped in silence. */
  send(frame: Frame): void;
  /** Sets the one receiver. Frames that arrived before are delivered to it first. */
  onFrame(receive: (frame: Frame) => void): void;
  /** Called once, with the error when the connection broke rather than ended. */
  onClose(closed: (error: Error | null) => void): void;
  close(): void;
}
