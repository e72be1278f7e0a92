import { messageOf } from '../../../core/text/errors.ts';
import { TimeLimit } from '../../../core/node/time-limit.ts';
import type { Channel } from '../../../core/protocol/wire/channel.ts';
import type { Device, Placement } from '../../../core/protocol/machine/devices.ts';
import type { Frame, WireArray } from '../../../core/protocol/wire/frames.ts';
import {
  type Control,
  type Launch,
  workerMessageSchema,
  type WorkerMessage,
  type WorkerState,
} from '../../../core/protocol/run/messages.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import { applyDiskEvent, type DiskWaits } from '../../../core/protocol/pages/disk-waits.ts';
import { applyControl, initialControlState } from '../../../core/protocol/run/control-state.ts';
import type { RunError, RunSummary } from '../../../core/protocol/run/record.ts';
import { mayShrink } from '../../../core/protocol/run/strategy-rules.ts';
import { Relay } from '../../relay/relay.ts';
import type { LogFile } from '../recording/log-file.ts';
import type { Grant } from '../../processes/confined.ts';
import { coreOf } from '../../processes/node-process.ts';
import { WorkerHandle } from './worker-handle.ts';
import { WorkerProcess } from './worker-process.ts';

export interface WaveOptions {
  placements: readonly Placement[];
  launch: Omit<Launch, 'placement' | 'groupRanks'>;
  socketPath: string;
  token: string;
  /** What a worker on this device gets. */
  grantOn(device: Device): Grant;
  openLog(rank: number): LogFile;
  listener: WaveListener;
}

/** The first message of a worker. */
export type Hello = Pick<WorkerMessage & { type: 'hello' }, 'rank' | 'pid'>;

export interface WaveListener {
  /** Called for every message of a rank, with the arrays of its frame. */
  message(handle: WorkerHandle, message: WorkerMessage, arrays: WireArray[]): void;
  exited(handle: WorkerHandle): void;
  /** Others wait for the rank, or it has been silent, for half of the limit. @param how the end of a sentence */
  slow(handle: WorkerHandle, how: string): void;
  /** The rank was slow, and no longer is. */
  back(handle: WorkerHandle): void;
  /** The other ranks continue without this one. @param how the end of a sentence: `was killed by SIGKILL` */
  dropped(handle: WorkerHandle, how: string, message: string): void;
  /** Called once all ranks are ready. Training starts when it resolves. */
  beforeStart(): Promise<void>;
}

export type WaveOutcome =
  | { kind: 'finished'; stopReason: RunSummary['stopReason'] }
  /** A restart may help if a process was lost because it died or hung. An error in the code would only come again. */
  | { kind: 'failed'; error: RunError; isProcessLost: boolean }
  | { kind: 'aborted' };

const tooLate = 'did not come to a collective in time';

/** The ranks that train at the same time: their processes and the relay of their collectives. */
export class Wave {
  private readonly options: WaveOptions;
  private readonly config: RunConfig;
  private readonly ranks: number[];
  private readonly handles: Map<number, WorkerHandle>;
  private readonly relay: Relay;
  private readonly logs: LogFile[] = [];
  private readonly ready = new Set<number>();
  /** Ranks that were lost, without which the others continue. */
  private readonly dropped = new Set<number>();
  private hasStarted = false;
  private failure: RunError | null = null;
  private isProcessLost = false;
  /** The error of the first rank that failed only because its group failed. */
  private consequence: RunError | null = null;
  private stopReason: RunSummary['stopReason'] = 'completed';
  private isAborted = false;
  /** All controls so far, for ranks that have not connected yet: each rank gets the same controls in the same order. */
  private readonly controls: Control[] = [];
  private controlState = initialControlState;
  private diskWaits: DiskWaits = new Map();
  private isHeld = false;
  private grace: TimeLimit | null = null;

  constructor(options: WaveOptions) {
    this.options = options;
    this.config = options.launch.config;
    this.ranks = options.placements.map(({ rank }) => rank).sort((a, b) => a - b);
    this.relay = new Relay({
      ranks: this.ranks,
      describeRank: (rank) => this.handle(rank).describe(),
      timeoutMs: () => this.collectiveTimeoutMs(),
      stepsOf: (rank) => this.handle(rank).step,
      onSlow: (rank, waitedMs, call) => this.slow(rank, waitedMs, call),
      onBack: (rank) => options.listener.back(this.handle(rank)),
      dropStuck: (missing, error) => this.dropStuck(missing, error),
      onStuck: (missing, error) => this.stuck(missing, error),
    });
    const processes = Map.groupBy(options.placements, ({ rank, stack }) => stack ?? `rank ${rank}`);
    this.handles = new Map([...processes.values()].flatMap((placements) => this.spawn(placements)));
  }

  /** Takes the connection of a worker that has sent its hello. */
  accept({ rank, pid }: Hello, channel: Channel): void {
    const handle = this.handles.get(rank);
    // No worker of this wave has that rank, or it is connected already: only another program can have sent this.
    if (handle === undefined || handle.phase !== 'connecting') return channel.close();
    handle.attach(channel, pid);
    this.relay.attach(rank, (frame) => handle.sendFrame(frame));
    const placement = this.placementOf(rank);
    handle.send({ type: 'launch', launch: { ...this.options.launch, placement, groupRanks: this.ranks } });
    for (const control of this.controls) handle.send({ type: 'control', control });
  }

  /** Resolves once every process of the wave has ended. */
  async outcome(): Promise<WaveOutcome> {
    await Promise.all([...this.handles.values()].map((handle) => handle.exited));
    this.grace?.stop();
    await Promise.all(this.logs.map((log) => log.close()));
    if (this.isAborted) return { kind: 'aborted' };
    // If ranks disagree about a collective, none of them is the cause, and the consequence is the only error.
    const error = this.failure ?? this.consequence;
    if (error !== null) return { kind: 'failed', error, isProcessLost: this.isProcessLost };
    return { kind: 'finished', stopReason: this.stopReason };
  }

  /** Sends a control to all ranks, and later to those that have not connected yet. */
  control(control: Control): void {
    this.controls.push(control);
    this.controlState = applyControl(this.controlState, control);
    this.hold();
    for (const handle of this.handles.values()) handle.send({ type: 'control', control });
  }

  /** The last reported state of each rank. */
  states(): Map<number, WorkerState> {
    return new Map(this.present().map(({ rank, state }) => [rank, state]));
  }

  /** The last reported position of the rank that is furthest ahead. */
  position(): { epoch: number; step: number } {
    const [{ epoch, step }] = this.present().sort((a, b) => b.step - a.step);
    return { epoch, step };
  }

  /** Kills all processes immediately. Nothing more is saved. */
  abort(): void {
    this.isAborted = true;
    for (const handle of this.handles.values()) handle.kill();
  }

  /** Takes the event of a rank or of the hub (null) that begins or ends a wait for space on the disk. */
  follow(event: { kind: string; rank: number | null; message: string }): void {
    this.diskWaits = applyDiskEvent(this.diskWaits, event);
    this.hold();
  }

  /** Suspends time limits during a pause, in which each rank waits at its next step, and while a write waits for space. */
  private hold(): void {
    const isHeld = this.controlState.isPaused || this.diskWaits.size > 0;
    if (isHeld === this.isHeld) return;
    this.isHeld = isHeld;
    if (isHeld) this.relay.hold();
    else this.relay.release();
    for (const handle of this.handles.values()) handle.hold(isHeld);
  }

  /** Starts the process of some ranks. */
  private spawn(placements: readonly Placement[]): [number, WorkerHandle][] {
    const { socketPath, token } = this.options;
    const logs = placements.map(({ rank }) => this.options.openLog(rank));
    this.logs.push(...logs);
    const core = coreOf(placements[0], this.options.placements);
    const grant = this.options.grantOn(placements[0].device);
    const process = new WorkerProcess({ placements, core, grant, socketPath, token, logs });
    return placements.map((placement, i) => [placement.rank, this.handleRank(placement, process, logs[i])]);
  }

  private handleRank(placement: Placement, process: WorkerProcess, log: LogFile): WorkerHandle {
    const { rank } = placement;
    const handle: WorkerHandle = new WorkerHandle({
      placement,
      process,
      timeouts: this.config.timeouts,
      log,
      listener: {
        frame: (frame) => this.receive(handle, frame),
        lost: (how) => this.lose(handle, how, `Rank ${rank} ${how}. ${handle.describe()}`),
        slow: (how) => this.options.listener.slow(handle, how),
        back: () => this.options.listener.back(handle),
        overdue: (how) => {
          this.lose(handle, how, `Rank ${rank} ${how}. ${handle.describe()}`);
          handle.kill();
        },
      },
    });
    void handle.exited.then(() => this.exited(handle));
    return handle;
  }

  private exited(handle: WorkerHandle): void {
    this.follow({ kind: 'save-skipped', rank: handle.rank, message: '' });
    this.options.listener.exited(handle);
  }

  private receive(handle: WorkerHandle, frame: Frame): void {
    if (this.dropped.has(handle.rank)) return;
    if (frame.kind !== 'message') return this.relay.receive(handle.rank, frame);
    try {
      const message = workerMessageSchema.parse(frame.message);
      this.take(handle, message);
      this.options.listener.message(handle, message, frame.arrays);
    } catch (error) {
      const reason = messageOf(error);
      this.fail(handle, `Rank ${handle.rank} sent an invalid message: ${reason}. ${handle.describe()}`);
      handle.kill();
    }
  }

  private take(handle: WorkerHandle, message: WorkerMessage): void {
    if ('epoch' in message) handle.moveTo(message);
    switch (message.type) {
      case 'state':
        handle.state = message.state;
        return;
      case 'described':
        handle.enter('ready');
        return this.becomeReady(handle.rank);
      case 'event':
        if (message.kind === 'non-finite-loss') this.stopOnNonFinite();
        return this.follow({ ...message, rank: handle.rank });
      case 'finished':
        this.stopReason = message.stopReason;
        return handle.leave();
      case 'failed':
        this.takeFailure(handle, message);
        return handle.leave();
    }
  }

  private takeFailure(handle: WorkerHandle, { error, isConsequence }: WorkerMessage & { type: 'failed' }): void {
    if (isConsequence) this.consequence ??= error;
    else if (!this.drop(handle, `failed: ${error.message}`, error.message)) this.fail(handle, error.message, error);
  }

  /** The ranks stop at once, unless they may continue without the one whose loss was not finite. */
  private stopOnNonFinite(): void {
    if (this.config.onNonFinite === 'stop' && !mayShrink(this.config)) this.control({ action: 'stop' });
  }

  private becomeReady(rank: number): void {
    this.ready.add(rank);
    if (this.ready.size < this.ranks.length) return;
    this.options.listener.beforeStart().then(
      () => this.start(),
      (error: unknown) => this.refuse(messageOf(error)),
    );
  }

  private start(): void {
    this.hasStarted = true;
    for (const handle of this.handles.values()) {
      handle.enter('running');
      handle.send({ type: 'start' });
    }
  }

  private refuse(reason: string): void {
    this.failure ??= { message: reason, rank: null, device: null, epoch: null, step: null };
    for (const handle of this.handles.values()) handle.kill();
  }

  /** Like `fail`, for a lost process. The loss only counts if it is the first failure. */
  private lose(handle: WorkerHandle, how: string, message: string): void {
    if (this.drop(handle, how, message)) return;
    this.isProcessLost ||= this.failure === null;
    this.fail(handle, message);
  }

  /** Lets the other ranks continue without this one. @returns whether the run's policy and state allow that */
  private drop(lost: WorkerHandle, how: string, message: string): boolean {
    if (this.dropped.has(lost.rank)) return true;
    const remaining = this.present().filter((handle) => handle !== lost);
    if (!mayShrink(this.config) || !this.hasStarted || this.failure !== null || remaining.length === 0) return false;
    this.dropped.add(lost.rank);
    const ranks = remaining.map(({ rank }) => rank);
    // Each rank learns it before the first result without the lost one.
    for (const handle of remaining) handle.send({ type: 'remaining', ranks });
    this.relay.drop(lost.rank);
    this.options.listener.dropped(lost, how, message);
    return true;
  }

  private present(): WorkerHandle[] {
    return [...this.handles.values()].filter(({ rank }) => !this.dropped.has(rank));
  }

  /** Fails the group because one rank failed. Ranks that train are asked to stop, and get time to exit. */
  private fail(handle: WorkerHandle, message: string, at: Partial<RunError> = {}): void {
    const { rank, device, epoch, step } = handle;
    this.failure ??= { rank, device, epoch, step, ...at, message };
    this.relay.rankLeft(rank, message.split('\n')[0]);
    this.control({ action: 'stop' });
    if (!this.hasStarted) return this.killOthers(handle);
    this.grace ??= new TimeLimit(this.config.timeouts.exitMs, () => {
      for (const other of this.handles.values()) other.kill();
    });
  }

  /** Kills the other ranks before the start, when they have nothing to save. */
  private killOthers(failed: WorkerHandle): void {
    for (const handle of this.handles.values()) if (handle !== failed) handle.kill();
  }

  private slow(rank: number, waitedMs: number, call: string): void {
    const limitMs = this.collectiveTimeoutMs();
    const how = `has not come for ${waitedMs / 1000} s, and the others wait for it in ${call}; it counts as hung after ${limitMs / 1000} s`;
    this.options.listener.slow(this.handle(rank), how);
  }

  private dropStuck(missing: number[], { message }: Error): boolean {
    const areDropped = missing.every((rank) => this.drop(this.handle(rank), tooLate, message));
    if (areDropped) for (const rank of missing) this.handle(rank).kill();
    return areDropped;
  }

  private stuck(missing: number[], error: Error): void {
    for (const rank of missing) {
      this.lose(this.handle(rank), tooLate, error.message);
      this.handle(rank).kill();
    }
  }

  private collectiveTimeoutMs(): number {
    const { prepareMs, firstCollectiveMs, collectiveMs } = this.config.timeouts;
    if (!this.hasStarted) return prepareMs;
    const allHaveStepped = this.present().every(({ hasStepped }) => hasStepped);
    return allHaveStepped ? collectiveMs : firstCollectiveMs;
  }

  private handle(rank: number): WorkerHandle {
    const handle = this.handles.get(rank);
    if (handle === undefined)
      throw new Error(`Rank ${rank} is not of this wave, which has [${this.ranks.join(', ')}].`);
    return handle;
  }

  private placementOf(rank: number): Placement {
    const placement = this.options.placements.find((candidate) => candidate.rank === rank);
    if (placement === undefined) throw new Error(`Rank ${rank} has no place in this wave.`);
    return placement;
  }
}
