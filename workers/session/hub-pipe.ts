import { Socket } from 'node:net';
import type { Channel } from '../../core/protocol/wire/channel.ts';
import { channelOver, hubPipe } from '../../core/protocol/wire/channel-over.ts';
import { frameOfValue, valueOfFrame } from '../../core/protocol/wire/value-frame.ts';

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
