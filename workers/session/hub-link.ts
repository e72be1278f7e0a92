import { z } from 'zod';
import { hubMessageSchema, type HubMessage, type WorkerMessage } from '../../core/protocol/run/messages.ts';
import type { Channel } from '../../core/protocol/wire/channel.ts';
import type { CollectiveFrame, Frame, WireArray } from '../../core/protocol/wire/frames.ts';

export interface HubHandlers {
  message(message: HubMessage): void;
  collective(frame: CollectiveFrame): void;
  /** The hub is gone, or the connection to it broke. */
  closed(error: Error | null): void;
}

/** A worker's end of its connection to the hub. Messages and collectives share it. */
export class HubLink {
  private readonly channel: Channel;
  private isGone = false;

  constructor(channel: Channel, handlers: HubHandlers) {
    this.channel = channel;
    channel.onClose((error) => {
      this.isGone = true;
      handlers.closed(error);
    });
    channel.onFrame((frame: Frame) => {
      if (frame.kind === 'message') handlers.message(parseMessage(frame.message));
      else handlers.collective(frame);
    });
  }

  /** Sends nothing once the hub is gone: the rank saves its state, and leaves. */
  send(message: WorkerMessage, arrays: WireArray[] = []): void {
    if (this.isGone) return;
    this.channel.send({ kind: 'message', message, arrays });
  }

  sendCollective(frame: CollectiveFrame): void {
    this.channel.send(frame);
  }

  close(): void {
    this.channel.close();
  }
}

/** @throws Error that names the message. It fails the process's ranks, because they would not do what the hub expects. */
function parseMessage(message: unknown): HubMessage {
  const parsed = hubMessageSchema.safeParse(message);
  if (parsed.success) return parsed.data;
  const type =
    typeof message === 'object' && message !== null && 'type' in message ? JSON.stringify(message.type) : 'no';
  throw new Error(
    `The hub sent a message of ${type} type that this worker does not know or that is not whole:\n${z.prettifyError(parsed.error)}\n` +
      'Hub and workers must be of the same version: end Tutti, and start it again.',
    { cause: parsed.error },
  );
}
