import { messageOf } from '../../../core/text/errors.ts';
import { followedMessageSchema, type FollowerMessage, type RunAccess } from '../../../core/protocol/run/follow.ts';
import type { ControlRequest } from '../../../core/protocol/run/control-state.ts';
import type { WireArray } from '../../../core/protocol/wire/arrays.ts';
import { type Channel, channelOver } from '../../../core/protocol/wire/channel.ts';
import type { Frame } from '../../../core/protocol/wire/frames.ts';
import { Heartbeat } from '../../nodes/secure/heartbeat.ts';
import { shakeHands } from '../../nodes/secure/secure-socket.ts';
import type { FolderCopy } from './folder-copy.ts';
import type { Ssh } from './ssh.ts';

const connectMs = 20_000;

interface Answer {
  resolve(refusal: string | null): void;
  reject(error: Error): void;
}

/** A connection to the hub of a run. */
export class Link {
  /** Resolves when the run has ended and all its files are here: null, or why the connection broke. */
  readonly over: Promise<string | null>;
  readonly #over = Promise.withResolvers<string | null>();
  readonly #channel: Channel;
  readonly #heartbeat: Heartbeat;
  readonly #answers = new Map<number, Answer>();
  /** Ends what carries the connection. */
  readonly #end: () => void;
  #copy: FolderCopy | null = null;
  #taking: Promise<void> = Promise.resolve();
  #count = 0;

  constructor(channel: Channel, end: () => void) {
    this.over = this.#over.promise;
    this.#channel = channel;
    this.#end = end;
    this.#heartbeat = new Heartbeat(
      () => this.#send({ type: 'beat' }),
      (limitMs) => this.close(`nothing came for ${limitMs / 1000} s`),
    );
    channel.onClose((error) => this.close(error?.message ?? 'it was closed'));
    channel.onFrame((frame) => {
      this.#heartbeat.heard();
      this.#obey(frame);
    });
  }

  /**
   * Connects through ssh to the hub, by the first of its node's addresses that leads there.
   * @throws Error with the reason for each
   */
  static async open(ssh: Ssh, { hosts, port, token, node }: RunAccess): Promise<Link> {
    const problems: string[] = [];
    for (const host of hosts) {
      const way = ssh.forward(host, port);
      try {
        const socket = await shakeHands({ socket: way.stream }, token, 'follow', connectMs);
        return new Link(channelOver(socket), () => way.end());
      } catch (error) {
        way.end();
        problems.push(`${host}: ${(await way.problem) || messageOf(error)}`);
      }
    }
    throw new Error(
      `The process that trains the run on ${node} cannot be reached (${problems.join('; ')}). Either it has ended, ` +
        'or another one has its port and does not know the token, or the login node lets nobody forward ports ' +
        '(AllowTcpForwarding of its sshd).',
    );
  }

  /** Keeps the copy up to date from now on. */
  follow(copy: FolderCopy): void {
    this.#copy = copy;
    this.#send({ type: 'follow', have: copy.held });
  }

  /**
   * Sends a request to the run.
   * @returns why it was refused; null where it was not
   * @throws Error if the connection breaks before the answer
   */
  async request(request: ControlRequest): Promise<string | null> {
    const number = (this.#count += 1);
    const answer = Promise.withResolvers<string | null>();
    this.#answers.set(number, answer);
    this.#send({ type: 'request', number, request });
    return answer.promise;
  }

  /** @param reason why it ends; null where the run has ended */
  close(reason: string | null): void {
    this.#heartbeat.stop();
    this.#channel.close();
    this.#end();
    for (const answer of this.#answers.values()) answer.reject(new Error(reason ?? 'the run has ended'));
    this.#answers.clear();
    // What arrived before is written.
    void this.#taking.then(() => this.#over.resolve(reason));
  }

  #obey(frame: Frame): void {
    const parsed = followedMessageSchema.safeParse(frame.kind === 'message' ? frame.message : null);
    if (!parsed.success || frame.kind !== 'message')
      return this.close('it sent a message that this version of Tutti does not know');
    const { data } = parsed;
    if (data.type === 'settle') this.#heartbeat.settle(data.heartbeatMs);
    if (data.type === 'files') this.#take(data, frame.arrays);
    if (data.type === 'answer') {
      this.#answers.get(data.number)?.resolve(data.refusal);
      this.#answers.delete(data.number);
    }
    if (data.type === 'ended') this.close(null);
  }

  #take(
    { parts, removed }: { parts: Parameters<FolderCopy['take']>[0]; removed: string[] },
    arrays: WireArray[],
  ): void {
    const bytes = arrays.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength));
    this.#taking = this.#taking
      .then(() => this.#copy?.take(parts, bytes, removed))
      .then(() => this.#send({ type: 'taken' }))
      .catch((error: unknown) => this.close(messageOf(error)));
  }

  #send(message: FollowerMessage): void {
    try {
      this.#channel.send({ kind: 'message', message, arrays: [] });
    } catch (error) {
      this.close(messageOf(error));
    }
  }
}
