import { mkdir, readdir, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join, basename, dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Task } from '../../core/launch/launcher.ts';
import {
  type NodeFolders,
  type StartOrder,
  type TaskMessage,
  type TaskOrder,
  taskOrderSchema,
} from '../../core/launch/task-messages.ts';
import type { Device } from '../../core/protocol/machine/devices.ts';
import { netAddress } from '../../core/protocol/wire/local-socket.ts';
import { type Channel, channelOver } from '../../core/protocol/wire/channel.ts';
import { messageOf } from '../../core/text/errors.ts';
import { coreOf } from '../processes/node-process.ts';
import { workerFolders } from '../store/runs/run-folder.ts';
import { grantFor } from '../trust/grant.ts';
import { LoadSampler } from '../runs/recording/load-sampler.ts';
import { ScratchFolder } from '../runs/workers/scratch.ts';
import { WorkerChild } from '../runs/workers/worker-child.ts';
import type { TaskOffer } from './place.ts';
import { Heartbeat } from './secure/heartbeat.ts';
import { connectSecurely } from './secure/secure-socket.ts';
import { type Meeting, readMeeting } from './secure/meeting-file.ts';

const lookEveryMs = 250;
const connectMs = 10_000;
/** Longer than workers take to save their states once their hub is gone. */
const leaveMs = 5_000;

export interface AgentOptions {
  task: Task;
  offer: TaskOffer;
  /** See the message `join`. */
  whyNoMpi: string | null;
  version: string;
  /** How long to look for the first task. */
  joinMs: number;
}

/**
 * A task of a launch other than the first: joins the first, and starts the workers of its devices as that one orders.
 * The workers connect to a socket of this process, as on one machine, and each connection continues over TLS; so a
 * worker needs no network, and what confines it stays the same.
 */
export class TaskAgent {
  readonly #options: AgentOptions;
  readonly #scratch: ScratchFolder;
  readonly #meeting: Meeting;
  readonly #channel: Channel;
  readonly #heartbeat: Heartbeat;
  readonly #children = new Map<number, WorkerChild>();
  readonly #ended = Promise.withResolvers<number>();
  readonly #tunnels = new Set<{ destroy(): void }>();
  #sampler: LoadSampler | null = null;
  #orders: Promise<void> = Promise.resolve();
  /** Whether the launch has ended, or this task was asked to end. */
  #isOver = false;
  /** Whether the first task is gone. */
  #isLost = false;

  /**
   * Serves the first task until the launch has ended.
   * @returns the exit code of the launch, or 1 if the first task is gone
   */
  static async serve(options: AgentOptions): Promise<number> {
    const [meeting, socket] = await meet(options);
    const scratch = await ScratchFolder.create();
    const agent = new TaskAgent(options, scratch, meeting, socket);
    try {
      return await agent.#serve();
    } finally {
      await scratch.remove();
    }
  }

  private constructor(options: AgentOptions, scratch: ScratchFolder, meeting: Meeting, socket: Socket) {
    const channel = channelOver(socket);
    this.#options = options;
    this.#scratch = scratch;
    this.#meeting = meeting;
    this.#channel = channel;
    const lose = (reason: string): void => {
      if (this.#isOver || this.#isLost) return;
      this.#isLost = true;
      // Over a link that is cut, it would wait for minutes until what was sent is confirmed.
      socket.destroy();
      console.error(`The first task of the launch is gone: ${reason}.`);
      this.#ended.resolve(1);
    };
    this.#heartbeat = new Heartbeat(
      () => this.#send({ type: 'beat' }),
      (limitMs) => lose(`nothing came from it for ${limitMs / 1000} s`),
    );
    channel.onClose((error) => lose(error?.message ?? 'it closed the connection'));
    channel.onFrame((frame) => {
      this.#heartbeat.heard();
      const order = taskOrderSchema.parse(frame.kind === 'message' ? frame.message : null);
      // One after the other: a worker starts in folders that are empty.
      this.#orders = this.#orders.then(() => this.#obey(order)).catch((error: unknown) => lose(messageOf(error)));
    });
  }

  async #serve(): Promise<number> {
    const server = await this.#listen();
    await this.#emptyFolders();
    const { offer, whyNoMpi, version } = this.#options;
    const { worldRank, localRank, localSize, node, devices, isBound } = offer;
    const about = { version, worldRank, localRank, localSize, node, devices, isBound, whyNoMpi };
    this.#send({ type: 'join', ...about, pid: process.pid, folders: this.#folders });
    const unwatch = this.#watchSignals();
    const exitCode = await this.#ended.promise.finally(unwatch);
    await this.#sampler?.stop();
    this.#heartbeat.stop();
    this.#channel.close();
    server.close();
    for (const tunnel of this.#tunnels) tunnel.destroy();
    await this.#dismissWorkers();
    return exitCode;
  }

  /** Launchers send signals to all tasks: the first one stops the run jointly, and tells the others when it is over. */
  #watchSignals(): () => void {
    const ignore = (): void => undefined;
    const end = (): void => this.#end(143);
    for (const signal of ['SIGINT', 'SIGUSR1', 'SIGUSR2'] as const) process.on(signal, ignore);
    process.on('SIGTERM', end);
    return () => {
      for (const signal of ['SIGINT', 'SIGUSR1', 'SIGUSR2'] as const) process.off(signal, ignore);
      process.off('SIGTERM', end);
    };
  }

  /** Workers that lose their hub save their states, and leave. */
  async #dismissWorkers(): Promise<void> {
    const children = [...this.#children.values()];
    const all = Promise.all(children.map(({ ended }) => ended));
    const leaving = new AbortController();
    await Promise.race([all, wait(leaveMs, undefined, { signal: leaving.signal }).catch(() => undefined)]);
    leaving.abort();
    for (const child of children) child.kill();
    await all;
  }

  async #obey(order: TaskOrder): Promise<void> {
    switch (order.type) {
      case 'beat':
        return;
      case 'settle':
        return this.#heartbeat.settle(order.heartbeatMs);
      case 'sample':
        return this.#sample(order.devices);
      case 'empty':
        return this.#emptyFolders();
      case 'start':
        return this.#start(order);
      case 'kill':
        return this.#children.get(order.id)?.kill();
      case 'end':
        return this.#end(order.exitCode);
    }
  }

  #end(exitCode: number): void {
    this.#isOver = true;
    this.#ended.resolve(exitCode);
  }

  async #sample(devices: readonly Device[]): Promise<void> {
    await this.#sampler?.stop();
    this.#sampler = null;
    if (devices.length === 0) return;
    this.#sampler = new LoadSampler(devices, {
      sampled: (sample) => this.#send({ type: 'loads', sample }),
      failed: (reason) => this.#send({ type: 'loads-unknown', reason }),
    });
  }

  async #start(order: StartOrder): Promise<void> {
    const { id } = order;
    try {
      await seesRunFolder(order.runFolder, this.#options.offer.node);
      const child = this.#child(order);
      this.#children.set(id, child);
      this.#send({ type: 'started', id, pid: child.pid });
      void this.#report(id, child);
    } catch (error) {
      this.#send({ type: 'ended', id, how: `could not be started: ${messageOf(error)}` });
    }
  }

  async #report(id: number, child: WorkerChild): Promise<void> {
    const how = await child.ended;
    this.#children.delete(id);
    this.#send({ type: 'ended', id, how });
  }

  /** @throws UntrustedError if this user does not trust the project here */
  #child(order: StartOrder): WorkerChild {
    const { placements, wave, project, runFolder, read, memoryLimitBytes, usesMpi, folders, token } = order;
    const [{ device }] = placements;
    const { scratchFolder, overflowFolder } = folders;
    const write = [...workerFolders(runFolder), scratchFolder, ...(overflowFolder === null ? [] : [overflowFolder])];
    const grant = grantFor({ project, read: [runFolder, ...read], write, memoryLimitBytes, device, usesMpi });
    const child = new WorkerChild({ placements, core: coreOf(placements[0], wave), grant, isStaying: false });
    const lines = {
      write: (line: string) => this.#send({ type: 'lines', id: order.id, lines: [line] }),
      drained: async () => {},
    };
    const ranks = placements.map(({ rank }) => rank);
    child.begin({ runs: [{ socketPath: this.#socketPath, token, ranks }] }, [lines]);
    return child;
  }

  /** Takes the connections of workers, and continues each over TLS. */
  async #listen(): Promise<Server> {
    const server = createServer((local) => {
      this.#tunnel(local).catch((error: unknown) => {
        console.error(messageOf(error));
        local.destroy();
      });
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(netAddress(this.#socketPath, process.platform), resolve);
    });
    return server;
  }

  async #tunnel(local: Socket): Promise<void> {
    const { token } = this.#meeting;
    const far = await connectSecurely(hostsFor(this.#meeting, this.#options.offer), token, 'rank', connectMs);
    const both = [local, far];
    for (const end of both) {
      this.#tunnels.add(end);
      // The other end of a broken connection reports it.
      end.on('error', () => undefined);
      end.once('close', () => {
        this.#tunnels.delete(end);
        for (const other of both) if (other !== end) other.destroySoon();
      });
    }
    local.pipe(far).pipe(local);
  }

  get #socketPath(): string {
    return join(this.#scratch.path, 'hub.sock');
  }

  get #folders(): NodeFolders {
    const { path, overflow } = this.#scratch;
    return { scratchFolder: join(path, 'ranks'), overflowFolder: overflow === null ? null : join(overflow, 'ranks') };
  }

  async #emptyFolders(): Promise<void> {
    const { scratchFolder, overflowFolder } = this.#folders;
    for (const folder of [scratchFolder, ...(overflowFolder === null ? [] : [overflowFolder])]) {
      await mkdir(folder, { recursive: true });
      for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
    }
  }

  #send(message: TaskMessage): void {
    if (this.#isLost) return;
    try {
      this.#channel.send({ kind: 'message', message, arrays: [] });
    } catch (error) {
      console.error(messageOf(error));
      this.#ended.resolve(1);
    }
  }
}

/**
 * Reads where the first task is, and connects to it. A file that an earlier launch left leads nowhere: it is read
 * again.
 */
async function meet({
  task,
  offer,
  joinMs,
}: AgentOptions): Promise<[Meeting, Awaited<ReturnType<typeof connectSecurely>>]> {
  const endMs = performance.now() + joinMs;
  let problem = `no task has written where it is (${task.job})`;
  while (performance.now() < endMs) {
    const meeting = await readMeeting(task.job);
    if (meeting !== null) {
      try {
        return [meeting, await connectSecurely(hostsFor(meeting, offer), meeting.token, 'task', connectMs)];
      } catch (error) {
        problem = messageOf(error);
      }
    }
    // Other nodes' files can only be polled: no shared file system tells of them.
    await wait(lookEveryMs);
  }
  throw new Error(
    `Task ${task.worldRank} of ${task.worldSize} did not reach the first one within ${joinMs / 1000} s: ` +
      `${problem}. All nodes must see the same Tutti home (TUTTI_HOME on a shared file system), and the first node ` +
      'must be reachable.',
  );
}

function hostsFor({ hosts, port, node }: Meeting, offer: TaskOffer): { hosts: readonly string[]; port: number } {
  return { hosts: node === offer.node ? ['127.0.0.1', ...hosts] : hosts, port };
}

/** NFS keeps what it knows of a folder for up to a minute; reading the folder above asks the server again. */
const folderLimitMs = 60_000;

/** Resolves once this node sees the run's folder, which another node has created. @throws Error with the remedy */
async function seesRunFolder(folder: string, node: string): Promise<void> {
  const endMs = performance.now() + folderLimitMs;
  while (!(await readdir(dirname(folder)).catch((): string[] => [])).includes(basename(folder))) {
    if (performance.now() > endMs) {
      throw new Error(
        `The node ${node} does not see the run's folder ${folder}. Put it on a file system that all nodes ` +
          'share (TUTTI_HOME or --out).',
      );
    }
    await wait(lookEveryMs);
  }
}
