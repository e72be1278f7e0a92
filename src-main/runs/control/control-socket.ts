import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isSameSecret, randomSecret } from '../../../core/node/secrets.ts';
import { messageOf } from '../../../core/text/errors.ts';
import type { Channel } from '../../../core/protocol/wire/channel.ts';
import type { Frame } from '../../../core/protocol/wire/frames.ts';
import {
  type ControlRequest,
  type RemoteAnswer,
  remoteRequestSchema,
} from '../../../core/protocol/run/control-state.ts';

/**
 * The path of the token that other processes of this user need to control the run whose hub listens at `socketPath`.
 */
export function controlTokenPath(socketPath: string): string {
  return join(dirname(socketPath), 'control-token');
}

/**
 * Takes control requests of other processes on a run's socket: one per connection, from any process that can read the
 * token.
 */
export class ControlSocket {
  readonly #token: string;
  readonly #obey: (request: ControlRequest) => void | Promise<void>;

  private constructor(token: string, obey: (request: ControlRequest) => void | Promise<void>) {
    this.#token = token;
    this.#obey = obey;
  }

  /** @param obey executes a request, or throws an error with the reason for a refusal */
  static async open(
    socketPath: string,
    obey: (request: ControlRequest) => void | Promise<void>,
  ): Promise<ControlSocket> {
    const token = randomSecret();
    await writeFile(controlTokenPath(socketPath), token, { mode: 0o600, flag: 'wx' });
    return new ControlSocket(token, obey);
  }

  /** Answers a connection's first frame and closes the connection. @returns false if the frame is not a request */
  answer(channel: Channel, frame: Frame): boolean {
    const parsed = remoteRequestSchema.safeParse(frame.kind === 'message' ? frame.message : null);
    if (!parsed.success) return false;
    const { token, request } = parsed.data;
    void this.#answer(channel, token, request);
    return true;
  }

  async #answer(channel: Channel, token: string, request: ControlRequest): Promise<void> {
    let isGone = false;
    channel.onClose(() => (isGone = true));
    const answer: RemoteAnswer = { type: 'remote-answer', refusal: await this.#refusal(token, request) };
    if (isGone) return;
    channel.send({ kind: 'message', message: answer, arrays: [] });
    channel.close();
  }

  async #refusal(token: string, request: ControlRequest): Promise<string | null> {
    if (!isSameSecret(token, this.#token))
      return "The token is not this run's. Read it again from the file beside the run's socket.";
    try {
      await this.#obey(request);
      return null;
    } catch (error) {
      return messageOf(error);
    }
  }
}
