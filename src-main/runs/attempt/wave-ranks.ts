import type { Device, Placement } from '../../../core/protocol/machine/devices.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import type { Launch } from '../../../core/protocol/run/messages.ts';
import type { LogFile } from '../recording/log-file.ts';
import type { Grant } from '../../processes/confined.ts';
import { coreOf } from '../../processes/node-process.ts';
import type { RemoteChild } from '../../nodes/remote-child.ts';
import { WorkerHandle, type WorkerListener } from '../workers/worker-handle.ts';
import { WorkerChild } from '../workers/worker-child.ts';
import type { WorkerHost } from '../workers/worker-host.ts';
import type { SharedProcess } from '../workers/shared-workers.ts';
import { type RankProcess, WorkerProcess } from '../workers/worker-process.ts';

/** What the processes of a wave need to start. */
export interface WaveProcesses {
  placements: readonly Placement[];
  socketPath: string;
  token: string;
  /** Keeps the processes for the next run; null: they end with this one. */
  host: WorkerHost | null;
  /** What a worker on this device gets. */
  grantOn(device: Device): Grant;
  /** The folders that the ranks of a device share with the others of its node. */
  foldersOf(device: Device): Pick<Launch, 'scratchFolder' | 'overflowFolder'>;
  /** The process of these ranks on another node; null where this process starts it. */
  startElsewhere(placements: readonly Placement[]): RemoteChild | null;
  openLog(rank: number): LogFile;
  /** Its part of a process that other runs share; null: its processes train no other run. */
  shared: SharedProcess | null;
}

/** The ranks of a wave, with their processes. The others may continue without some of them. */
export class WaveRanks {
  /** All ranks, in ascending order. */
  readonly all: number[];
  readonly #options: WaveProcesses;
  readonly #timeouts: RunConfig['timeouts'];
  readonly #handles: ReadonlyMap<number, WorkerHandle>;
  readonly #logs: LogFile[] = [];
  /** Ranks that were lost, without which the others continue. */
  readonly #dropped = new Set<number>();

  /** Starts the processes. @param listenerOf the listener of a rank, whose handle it gets */
  constructor(
    options: WaveProcesses,
    timeouts: RunConfig['timeouts'],
    listenerOf: (handle: () => WorkerHandle) => WorkerListener,
  ) {
    this.#options = options;
    this.#timeouts = timeouts;
    this.all = options.placements.map(({ rank }) => rank).sort((a, b) => a - b);
    const processes = Map.groupBy(options.placements, ({ rank, stack }) => stack ?? `rank ${rank}`);
    const handles = [...processes.values()].flatMap((placements) => this.#start(placements, listenerOf));
    this.#handles = new Map(handles.map((handle) => [handle.rank, handle]));
  }

  /** Undefined where this wave has no such rank. */
  find(rank: number): WorkerHandle | undefined {
    return this.#handles.get(rank);
  }

  get(rank: number): WorkerHandle {
    const handle = this.find(rank);
    if (handle === undefined) throw new Error(`Rank ${rank} is not of this wave, which has [${this.all.join(', ')}].`);
    return handle;
  }

  placementOf(rank: number): Placement {
    const placement = this.#options.placements.find((candidate) => candidate.rank === rank);
    if (placement === undefined) throw new Error(`Rank ${rank} has no place in this wave.`);
    return placement;
  }

  /** The ranks of a wave on the node of one of them. */
  onNodeOf({ device: { node } }: Placement): number[] {
    const here = this.#options.placements.filter(({ device }) => device.node?.name === node?.name);
    return here.map(({ rank }) => rank).sort((a, b) => a - b);
  }

  get handles(): WorkerHandle[] {
    return [...this.#handles.values()];
  }

  /** The handles of the ranks that have not been dropped. */
  get present(): WorkerHandle[] {
    return this.handles.filter(({ rank }) => !this.#dropped.has(rank));
  }

  drop(rank: number): void {
    this.#dropped.add(rank);
  }

  isDropped(rank: number): boolean {
    return this.#dropped.has(rank);
  }

  /** Resolves once every process has ended. */
  async exited(): Promise<void> {
    await Promise.all(this.handles.map((handle) => handle.exited));
  }

  async closeLogs(): Promise<void> {
    await Promise.all(this.#logs.map((log) => log.close()));
  }

  /** Starts the process of some ranks. */
  #start(placements: readonly Placement[], listenerOf: (handle: () => WorkerHandle) => WorkerListener): WorkerHandle[] {
    const logs = placements.map(({ rank }) => this.#options.openLog(rank));
    this.#logs.push(...logs);
    const process = this.#processFor(placements, logs);
    return placements.map((placement, i) => {
      const listener = listenerOf(() => handle);
      const handle = new WorkerHandle({ placement, process, timeouts: this.#timeouts, log: logs[i], listener });
      return handle;
    });
  }

  #processFor(placements: readonly Placement[], logs: readonly LogFile[]): RankProcess {
    const { socketPath, token, host, shared } = this.#options;
    shared?.addLogs(logs);
    if (shared !== null) return shared;
    const ranks = placements.map(({ rank }) => rank);
    const elsewhere = this.#options.startElsewhere(placements);
    if (elsewhere !== null) return new WorkerProcess({ child: elsewhere, run: { socketPath, token, ranks }, logs });
    const core = coreOf(placements[0], this.#options.placements);
    const grant = this.#options.grantOn(placements[0].device);
    const child =
      host?.take({ placements, core, grant }) ?? new WorkerChild({ placements, core, grant, isStaying: false });
    return new WorkerProcess({ child, run: { socketPath, token, ranks }, logs });
  }
}
