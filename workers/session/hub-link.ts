import { Socket } from 'node:net';
import { z } from 'zod';
import { type HubMessage, hubMessageSchema, type WorkerMessage } from '../../core/protocol/run/messages.ts';
import { type Channel, channelOver, hubPipe } from '../../core/protocol/wire/channel.ts';
import type { CollectiveFrame, Frame, WireArray } from '../../core/protocol/wire/frames.ts';
import { frameOfValue, valueOfFrame } from '../../core/protocol/wire/value-frame.ts';

interface HubHandlers {
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

/**
 * @throws Error that names the message. It fails the process's ranks, because they would not do what the hub expects.
 */
function parseMessage(message: unknown): HubMessage {
  const parsed = hubMessageSchema.safeParse(message);
  if (parsed.success) return parsed.data;
  const type =
    typeof message === 'object' && message !== null && 'type' in message ? JSON.stringify(message.type) : 'no';
  throw new Error(
    `The hub sent a message of ${type} type that this worker does not know or that is not ` +
      `whole:\n${z.prettifyError(parsed.error)}\n` +
      'Hub and workers must be of the same version: end Tutti, and start it again.',
    { cause: parsed.error },
  );
}

let opened: Channel | null = null;

/**
 * The pipe to the hub of a process that it started to answer questions. The process ends when the pipe does.
 * @throws Error in a process that was not started by the hub
 */
export function hubChannel(): Channel {
  opened ??= openChannel();
  return opened;
}

function openChannel(): Channel {
  let socket: Socket;
  try {
    socket = new Socket({ fd: hubPipe });
  } catch (cause) {
    throw new Error('This process is started by the hub, with a pipe to reply through.', { cause });
  }
  const channel = channelOver(socket);
  channel.onClose(() => process.exit());
  return channel;
}

/** Receives what the hub asks, one question after the other. */
export function onQuestion(receive: (question: unknown) => void): void {
  hubChannel().onFrame((frame) => receive(valueOfFrame(frame)));
}

/** The only question of a process that the hub starts for one task. */
export function questionOfHub(): Promise<unknown> {
  return new Promise(onQuestion);
}

export function tellHub(message: object): void {
  hubChannel().send(frameOfValue(message));
}

/** Sends the answer of a process that the hub started for one task, and closes the pipe, so that the process ends. */
export function replyToHub(message: object): void {
  tellHub(message);
  hubChannel().close();
}
