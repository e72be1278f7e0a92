import { messageOf } from '../../../core/text/errors.ts';
import type { Channel } from '../../../core/protocol/wire/channel.ts';
import type { Placement } from '../../../core/protocol/machine/devices.ts';
import type { Frame, WireArray } from '../../../core/protocol/wire/frames.ts';
import {
  type Control,
  type Launch,
  workerMessageSchema,
  type WorkerMessage,
  type WorkerState,
} from '../../../core/protocol/run/messages.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import { applyControl, initialControlState } from '../../../core/protocol/run/control-state.ts';
import type { RunError, RunSummary } from '../../../core/protocol/run/record.ts';
import { Relay } from '../../relay/relay.ts';
import type { LogFile } from '../recording/log-file.ts';
import { coreOf } from '../../processes/node-process.ts';
import { WorkerHandle } from './worker-handle.ts';
import { WorkerProcess } from './worker-process.ts';

export interface WaveOptions {
  placements: readonly Placement[];
  launch: Omit<Launch, 'placement' | 'groupRanks'>;
  socketPath: string;
  token: string;
  openLog(rank: number): LogFile;
  listener: WaveListener;
}

export interface WaveListener {
  /** Called for every message of a rank, with the arrays of its frame. */
  message(handle: WorkerHandle, message: WorkerMessage, arrays: WireArray[]): void;
  exited(handle: WorkerHandle): void;
  /** Called once all ranks are ready. Training starts when it resolves. */
  beforeStart(): Promise<void>;
}

export type WaveOutcome =
  | { kind: 'finished'; stopReason: RunSummary['stopReason'] }
  /** A restart may help if a process was lost because it died or hung. An error in the code would only come again. */
  | { kind: 'failed'; error: RunError; isProcessLost: boolean }
  | { kind: 'aborted' };

/** The ranks that train at the same time: their processes and the relay of their collectives. */
export class Wave {
  private readonly options: WaveOptions;
  private readonly config: RunConfig;
  private readonly ranks: number[];
  private readonly handles: Map<number, WorkerHandle>;
  private readonly relay: Relay;
  private readonly logs: LogFile[] = [];
  private readonly ready = new Set<number>();
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
  private isHeld = false;
  private graceTimer: NodeJS.Timeout | null = null;

  constructor(options: WaveOptions) {
    this.options = options;
    this.config = options.launch.config;
    this.ranks = options.placements.map(({ rank }) => rank).sort((a, b) => a - b);
    this.relay = new Relay({
      ranks: this.ranks,
      describeRank: (rank) => this.handle(rank).describe(),
      timeoutMs: () => this.collectiveTimeoutMs(),
      stepsOf: (rank) => this.handle(rank).step,
      onStuck: (missing, error) => this.stuck(missing, error),
    });
    const processes = Map.groupBy(options.placements, ({ rank, stack }) => stack ?? `rank ${rank}`);
    this.handles = new Map([...processes.values()].flatMap((placements) => this.spawn(placements)));
  }

  /** Takes the connection of a worker that has sent its hello. */
  accept(rank: number, channel: Channel): void {
    const handle = this.handles.get(rank);
    // No worker of this wave has that rank, or it is connected already: only another program can have sent this.
    if (handle === undefined || handle.phase !== 'connecting') return channel.close();
    handle.attach(channel);
    this.relay.attach(rank, (frame) => handle.sendFrame(frame));
    const placement = this.placementOf(rank);
    handle.send({ type: 'launch', launch: { ...this.options.launch, placement, groupRanks: this.ranks } });
    for (const control of this.controls) handle.send({ type: 'control', control });
  }

  /** Resolves once every process of the wave has ended. */
  async outcome(): Promise<WaveOutcome> {
    await Promise.all([...this.handles.values()].map((handle) => handle.exited));
    if (this.graceTimer !== null) clearTimeout(this.graceTimer);
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
    this.hold(this.controlState.isPaused);
    for (const handle of this.handles.values()) handle.send({ type: 'control', control });
  }

  /** The last reported state of each rank. */
  states(): Map<number, WorkerState> {
    return new Map([...this.handles].map(([rank, { state }]) => [rank, state]));
  }

  /** The last reported position of the rank that is furthest ahead. */
  position(): { epoch: number; step: number } {
    const [{ epoch, step }] = [...this.handles.values()].sort((a, b) => b.step - a.step);
    return { epoch, step };
  }

  /** Kills all processes immediately. Nothing more is saved. */
  abort(): void {
    this.isAborted = true;
    for (const handle of this.handles.values()) handle.kill();
  }

  /** Suspends time limits during a pause, in which each rank waits at its next step. */
  private hold(isPaused: boolean): void {
    if (isPaused === this.isHeld) return;
    this.isHeld = isPaused;
    if (isPaused) this.relay.hold();
    else this.relay.release();
    for (const handle of this.handles.values()) handle.hold(isPaused);
  }

  /** Starts the process of some ranks. */
  private spawn(placements: readonly Placement[]): [number, WorkerHandle][] {
    const { socketPath, token } = this.options;
    const logs = placements.map(({ rank }) => this.options.openLog(rank));
    this.logs.push(...logs);
    const core = coreOf(placements[0], this.options.placements);
    const process = new WorkerProcess({ placements, core, socketPath, token, logs });
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
        lost: (reason) => this.lose(handle, `Rank ${rank} ${reason}. ${handle.describe()}`),
        overdue: (reason) => {
          this.lose(handle, `Rank ${rank} ${reason}. ${handle.describe()}`);
          handle.kill();
        },
      },
    });
    void handle.exited.then(() => this.options.listener.exited(handle));
    return handle;
  }

  private receive(handle: WorkerHandle, frame: Frame): void {
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
        if (message.kind === 'non-finite-loss' && this.config.onNonFinite === 'stop') this.control({ action: 'stop' });
        return;
      case 'finished':
        this.stopReason = message.stopReason;
        return handle.leave();
      case 'failed':
        if (message.isConsequence) this.consequence ??= message.error;
        else this.fail(handle, message.error.message, message.error);
        return handle.leave();
    }
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
  private lose(handle: WorkerHandle, message: string): void {
    this.isProcessLost ||= this.failure === null;
    this.fail(handle, message);
  }

  /** Fails the group because one rank failed. Ranks that train are asked to stop, and get time to exit. */
  private fail(handle: WorkerHandle, message: string, at: Partial<RunError> = {}): void {
    const { rank, device, epoch, step } = handle;
    this.failure ??= { rank, device, epoch, step, ...at, message };
    this.relay.rankLeft(rank, message.split('\n')[0]);
    this.control({ action: 'stop' });
    if (!this.hasStarted) return this.killOthers(handle);
    this.graceTimer ??= setTimeout(() => {
      for (const other of this.handles.values()) other.kill();
    }, this.config.timeouts.exitMs);
  }

  /** Kills the other ranks before the start, when they have nothing to save. */
  private killOthers(failed: WorkerHandle): void {
    for (const handle of this.handles.values()) if (handle !== failed) handle.kill();
  }

  private stuck(missing: number[], error: Error): void {
    for (const rank of missing) {
      this.lose(this.handle(rank), error.message);
      this.handle(rank).kill();
    }
  }

  private collectiveTimeoutMs(): number {
    const { prepareMs, firstCollectiveMs, collectiveMs } = this.config.timeouts;
    if (!this.hasStarted) return prepareMs;
    const allHaveStepped = [...this.handles.values()].every(({ hasStepped }) => hasStepped);
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
