import type { Join, NodeFolders, TaskOrder } from '../../core/launch/task-messages.ts';
import { taskMessageSchema } from '../../core/launch/task-messages.ts';
import type { Device } from '../../core/protocol/machine/devices.ts';
import type { LoadListener } from '../runs/recording/load-sampler.ts';
import { messageOf } from '../../core/text/errors.ts';
import type { Channel } from '../../core/protocol/wire/channel.ts';
import { Heartbeat } from './secure/heartbeat.ts';
import { RemoteChild, type RemoteStart } from './remote-child.ts';

/** Another task of the launch, as the hub sees it: its devices, and the workers that it starts there. */
export class RemoteTask {
  readonly about: Join;
  readonly #channel: Channel;
  readonly #heartbeat: Heartbeat;
  readonly #children = new Map<number, RemoteChild>();
  readonly #lost: (reason: string) => void;
  #loads: LoadListener | null = null;
  #count = 0;
  #isLost = false;

  /**
   * @param lost called once when the task has ended or nothing comes from it any more.
   * @param reason the end of a sentence
   */
  constructor(about: Join, channel: Channel, lost: (reason: string) => void) {
    this.about = about;
    this.#channel = channel;
    this.#lost = lost;
    this.#heartbeat = new Heartbeat(
      () => this.#send({ type: 'beat' }),
      (limitMs) => this.lose(`nothing came from it for ${limitMs / 1000} s`),
    );
    channel.onClose((error) => this.lose(error === null ? 'its process has ended' : error.message));
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  settle(heartbeatMs: number): void {
    this.#heartbeat.settle(heartbeatMs);
    this.#send({ type: 'settle', heartbeatMs });
  }

  /** Asks for the loads of its devices from now on. */
  sample(devices: readonly Device[], listener: LoadListener): void {
    this.#loads = listener;
    this.#send({ type: 'sample', devices: [...devices] });
  }

  empty(): void {
    this.#send({ type: 'empty' });
  }

  /** A worker that starts once it gets its run. */
  child(start: RemoteStart, folders: NodeFolders): RemoteChild {
    const id = (this.#count += 1);
    const child = new RemoteChild(
      (token) => this.#send({ type: 'start', id, ...start, token, folders }),
      () => this.#send({ type: 'kill', id }),
    );
    this.#children.set(id, child);
    if (this.#isLost) this.#abandon();
    return child;
  }

  /** Takes a message of the task. */
  take(message: unknown): void {
    this.#heartbeat.heard();
    const parsed = taskMessageSchema.safeParse(message);
    if (!parsed.success) return this.lose(`it sent an invalid message (${parsed.error.message})`);
    const { data } = parsed;
    if (data.type === 'beat' || data.type === 'join') return;
    if (data.type === 'loads') return this.#loads?.sampled(data.sample);
    if (data.type === 'loads-unknown') return this.#loads?.failed(`${this.about.node}: ${data.reason}`);
    const child = this.#children.get(data.id);
    if (data.type === 'started') child?.started(data.pid);
    if (data.type === 'lines') child?.print(data.lines);
    if (data.type !== 'ended') return;
    child?.end(data.how);
    this.#children.delete(data.id);
  }

  end(exitCode: number): void {
    this.#heartbeat.stop();
    this.#send({ type: 'end', exitCode });
    this.#channel.close();
  }

  lose(reason: string): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#heartbeat.stop();
    this.#abandon(reason);
    this.#channel.close();
    this.#lost(reason);
  }

  #abandon(reason = 'it is gone'): void {
    const { node, worldRank } = this.about;
    for (const child of this.#children.values())
      child.end(`was lost with its node ${node} (task ${worldRank}): ${reason}`);
    this.#children.clear();
  }

  #send(message: TaskOrder): void {
    if (this.#isLost) return;
    try {
      this.#channel.send({ kind: 'message', message, arrays: [] });
    } catch (error) {
      this.lose(messageOf(error));
    }
  }
}
