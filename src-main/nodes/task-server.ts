import { askedPerWorker } from '../../core/protocol/run/workers.ts';
import { type Join, type NodeFolders, taskMessageSchema } from '../../core/launch/task-messages.ts';
import { mpiOfLauncher, type Task } from '../../core/launch/launcher.ts';
import type { Device, Placement } from '../../core/protocol/machine/devices.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import { rankCount } from '../../core/protocol/run/strategies/ranks-and-members.ts';
import { type Channel, channelOver } from '../../core/protocol/wire/channel.ts';
import { planPlacement } from '../devices/plan.ts';
import { usableKinds } from '../processes/native-build.ts';
import type { LoadListener } from '../runs/recording/load-sampler.ts';
import { evenOut, moveRanks, type NodeRange, selectOnTasks, spreadOver, taskOf, type TaskOffer } from './place.ts';
import type { RemoteChild, RemoteStart } from './remote-child.ts';
import { RemoteTask } from './remote-task.ts';
import { hostsOfThis, type Purpose, SecureServer } from './secure/secure-socket.ts';
import { removeMeeting, writeMeeting } from './secure/meeting-file.ts';

export interface ServerOptions {
  task: Task;
  /** What the first task itself can compute on. */
  own: TaskOffer;
  /** Why its workers cannot exchange arrays by MPI; the end of a sentence. Null if they can. */
  whyNoMpi: string | null;
  version: string;
  /** Null: all tasks that were launched must join, and the run continues while any node is left. */
  nodes: NodeRange | null;
  /** How long the first tasks may take to join, in ms. */
  joinMs: number;
}

/**
 * The first task of a launch, as the others and the hub see it: the others join it over TLS and start the workers of
 * their devices; the connections of those workers reach the hub through it.
 */
export class TaskServer {
  readonly #options: ServerOptions;
  readonly #tasks = new Map<number, RemoteTask>();
  readonly #server: Promise<SecureServer>;
  #acceptRank: (channel: Channel) => void = (channel) => channel.close();
  #heartbeatMs: number | null = null;
  #loads: LoadListener | null = null;
  #onJoin: ((node: string) => void) | null = null;
  #changed = Promise.withResolvers<void>();
  #refusal: string | null = null;
  #hasEnteredMpi = false;

  private constructor(options: ServerOptions) {
    this.#options = options;
    this.#server = SecureServer.listen((socket, purpose) => this.#accept(channelOver(socket), purpose));
  }

  /** Listens, and writes for the other tasks where. */
  static async open(options: ServerOptions): Promise<TaskServer> {
    const own = new TaskServer(options);
    const { port, token } = await own.#server;
    const { task, own: offer } = options;
    await writeMeeting({
      format: 1,
      job: task.job,
      hosts: hostsOfThis(task.firstHost),
      port,
      token,
      node: offer.node,
      pid: process.pid,
    });
    return own;
  }

  /**
   * Whether workers may enter the job of MPI that the launcher has set up: once, because the processes that entered it
   * cannot be replaced.
   */
  enterMpi(): boolean {
    const isFirst = !this.#hasEnteredMpi;
    this.#hasEnteredMpi = true;
    return isFirst;
  }

  /**
   * What the launch offers to an exchange by MPI; null where no launcher of MPI has started a fixed number of tasks.
   */
  get mpi(): { processes: number; obstacle: string | null } | null {
    const { task, nodes, own, whyNoMpi } = this.#options;
    if (nodes !== null || mpiOfLauncher(process.env) === null) return null;
    const about = [
      { worldRank: 0, node: own.node, whyNoMpi },
      ...[...this.#tasks.values()].map((other) => other.about),
    ];
    const lacking = about.find((other) => other.whyNoMpi !== null);
    const obstacle =
      lacking === undefined ? null : `on ${lacking.node}, task ${lacking.worldRank}: ${lacking.whyNoMpi}`;
    return { processes: task.worldSize, obstacle };
  }

  /** Resolves once the tasks are there with which the launch begins. @throws Error that names those that are missing */
  async gather(): Promise<void> {
    const { nodes, task, joinMs } = this.#options;
    const waitMs = nodes?.waitMs ?? 0;
    const startedMs = performance.now();
    let enoughSinceMs: number | null = null;
    for (;;) {
      if (this.#refusal !== null) throw new Error(this.#refusal);
      const nowMs = performance.now();
      if (this.offers.length >= task.worldSize || this.#nodeCount >= (nodes?.most ?? Infinity)) return;
      if (nodes !== null && this.#nodeCount >= nodes.least) enoughSinceMs ??= nowMs;
      if (enoughSinceMs !== null && nowMs - enoughSinceMs >= waitMs) return;
      const leftMs = enoughSinceMs === null ? startedMs + joinMs - nowMs : enoughSinceMs + waitMs - nowMs;
      if (leftMs <= 0) throw this.#missing();
      await this.#change(leftMs);
    }
  }

  #missing(): Error {
    const { task, joinMs } = this.#options;
    const there = new Set(this.offers.map(({ worldRank }) => worldRank));
    const missing = Array.from({ length: task.worldSize }, (_, i) => i).filter((rank) => !there.has(rank));
    return new Error(
      `Of the ${task.worldSize} tasks that ${task.launcher} started, ${missing.length === 1 ? 'task' : 'tasks'} ` +
        `${missing.join(', ')} did not join within ${joinMs / 1000} s. All nodes must see the same Tutti home ` +
        `(TUTTI_HOME on a shared file system), and reach this node (${this.#options.own.node}).`,
    );
  }

  /** The name by which the launcher knows this node; null where it does not tell. */
  get firstHost(): string | null {
    return this.#options.task.firstHost;
  }

  /** Own devices first, then those of the tasks that are present, by world rank. */
  get offers(): TaskOffer[] {
    const others = [...this.#tasks.values()].map(({ about }) => about).sort((a, b) => a.worldRank - b.worldRank);
    return [this.#options.own, ...others];
  }

  get #nodeCount(): number {
    return new Set(this.offers.map(({ node }) => node)).size;
  }

  /** The devices of the tasks that are present. @throws Error as {@link selectOnTasks} does */
  devices(config: Pick<RunConfig, 'devices' | 'backend'>): Device[] {
    return selectOnTasks(config.devices, this.offers, usableKinds(config.backend));
  }

  /** The devices on which a run's workers are placed. */
  devicesFor(config: RunConfig): Device[] {
    return spreadOver(this.devices(config), Math.ceil(config.members / askedPerWorker(config)));
  }

  /**
   * The placements of a wave on the tasks that are present: ranks of lost ones move, and then those of the fullest
   * devices to new ones that are free.
   * @throws Error if too few nodes are left
   */
  placementsNow(wave: readonly Placement[], config: RunConfig): Placement[] {
    this.#requireEnough();
    const devices = this.devices(config);
    return evenOut(moveRanks(wave, devices), devices);
  }

  #requireEnough(): void {
    const least = this.#options.nodes?.least ?? 1;
    if (this.#nodeCount >= least) return;
    throw new Error(
      `Only ${this.#nodeCount} of at least ${least} nodes are left. Resume the run once there are more, or ` +
        'allow fewer with --nodes.',
    );
  }

  /**
   * The placements where the number of ranks follows that of the devices: one on each that is there, at most `members`.
   * @throws as {@link placementsNow} does
   */
  placementPerDevice(config: RunConfig): Placement[] {
    this.#requireEnough();
    const devices = this.devices(config);
    const ranks = rankCount(Math.min(config.members, devices.length));
    return planPlacement({ ranks, placement: 'share', devices: spreadOver(devices, ranks) });
  }

  /** Whether the task of a device is there. A new one may have the number of one that is gone. */
  isPresent({ node }: Pick<Device, 'node'>): boolean {
    return this.offers.some((offer) => offer.worldRank === node?.task && offer.node === node.name);
  }

  /** Null where enough nodes are present, else what is awaited. */
  get whatIsMissing(): string | null {
    const least = this.#options.nodes?.least ?? 1;
    const count = this.#nodeCount;
    return count >= least ? null : `${count} of at least ${least} nodes ${count === 1 ? 'is' : 'are'} left`;
  }

  /** Waits for nodes in place of lost ones, where too few are left. */
  async awaitNodes(limitMs: number, signal: AbortSignal): Promise<void> {
    const least = this.#options.nodes?.least ?? 1;
    const endMs = performance.now() + limitMs;
    const notify = (): void => this.#notify();
    signal.addEventListener('abort', notify);
    while (this.#nodeCount < least && !signal.aborted && performance.now() < endMs) {
      await this.#change(endMs - performance.now());
    }
    signal.removeEventListener('abort', notify);
  }

  /** Sets where the connections of workers go: to the session that trains now. */
  onRank(accept: (channel: Channel) => void): void {
    this.#acceptRank = accept;
  }

  /** Sets who learns of tasks that join until the run ends. */
  onJoin(joined: (node: string) => void): void {
    this.#onJoin = joined;
  }

  settle(heartbeatMs: number): void {
    this.#heartbeatMs = heartbeatMs;
    for (const task of this.#tasks.values()) task.settle(heartbeatMs);
  }

  /** Lets all other tasks report the loads of those of these devices that are theirs. */
  sampleLoads(devices: readonly Device[], listener: LoadListener | null = this.#loads): void {
    this.#loads = listener;
    if (listener === null) return;
    for (const [rank, task] of this.#tasks) {
      task.sample(unique(devices.filter((device) => taskOf(device) === rank)), listener);
    }
  }

  /** Ends the reports to a run that has ended. */
  restAfterRun(): void {
    this.#onJoin = null;
    this.sampleLoads([]);
    this.#loads = null;
  }

  /** Empties the folders that ranks share, on all other nodes. */
  emptyFolders(): void {
    for (const task of this.#tasks.values()) task.empty();
  }

  /**
   * Folders that the ranks of a node share: those of its first task that is present.
   * @param own those of the hub's node
   */
  foldersOf({ node }: Pick<Device, 'node'>, own: NodeFolders): NodeFolders {
    if (node === undefined || node.name === this.#options.own.node) return own;
    const first = [...this.#tasks.values()]
      .filter(({ about }) => about.node === node.name)
      .sort((a, b) => a.about.worldRank - b.about.worldRank)
      .at(0);
    return first?.about.folders ?? own;
  }

  /** The worker of a device of another task; null on this one. */
  child(start: RemoteStart, own: NodeFolders): RemoteChild | null {
    const [{ device }] = start.placements;
    if (taskOf(device) === 0) return null;
    const task = this.#tasks.get(taskOf(device));
    if (task === undefined) throw new Error(`The task of ${device.id} is gone.`);
    return task.child(start, this.foldersOf(device, own));
  }

  /** Tells the other tasks that the launch has ended. */
  async close(exitCode: number): Promise<void> {
    for (const task of this.#tasks.values()) task.end(exitCode);
    const server = await this.#server;
    await removeMeeting(this.#options.task.job);
    // Their processes close their ends once they have read that it is over.
    await Promise.race([this.#allGone(), new Promise((resolve) => setTimeout(resolve, 2_000).unref())]);
    server.close();
  }

  async #allGone(): Promise<void> {
    while (this.#tasks.size > 0) await this.#changed.promise;
  }

  #accept(channel: Channel, purpose: Purpose): void {
    if (purpose === 'rank') return this.#acceptRank(channel);
    let task: RemoteTask | null = null;
    channel.onFrame((frame) => {
      const message = frame.kind === 'message' ? frame.message : null;
      if (task !== null) return task.take(message);
      const parsed = taskMessageSchema.safeParse(message);
      if (!parsed.success || parsed.data.type !== 'join') return channel.close();
      task = this.#join(parsed.data, channel);
    });
  }

  #join(join: Join, channel: Channel): RemoteTask | null {
    const { version } = this.#options;
    if (join.version !== version) {
      this.#refusal =
        `The node ${join.node} has Tutti ${join.version}, and this one ${version}. All ` +
        'nodes need the same version.';
    } else if (join.worldRank === 0 || this.#tasks.has(join.worldRank)) {
      this.#refusal = `Two tasks say that they are task ${join.worldRank}. Give each another number.`;
    } else {
      const task = new RemoteTask(join, channel, () => {
        this.#tasks.delete(join.worldRank);
        this.#notify();
      });
      this.#tasks.set(join.worldRank, task);
      this.#onJoin?.(join.node);
      if (this.#heartbeatMs !== null) task.settle(this.#heartbeatMs);
      this.#notify();
      return task;
    }
    channel.close();
    this.#notify();
    return null;
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** Resolves when a task has joined or was lost, or after the time. */
  async #change(limitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | null = null;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
    });
    await Promise.race([this.#changed.promise, late]);
    if (timer !== null) clearTimeout(timer);
  }
}

/** Several ranks may share a device. */
function unique(devices: readonly Device[]): Device[] {
  return [...new Map(devices.map((device) => [device.id, device])).values()];
}
