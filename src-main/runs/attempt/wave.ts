import { describeEnforcement } from '../../../core/protocol/machine/confinement.ts';
import { messageOf } from '../../../core/text/errors.ts';
import type { Channel } from '../../../core/protocol/wire/channel.ts';
import type { Frame, WireArray } from '../../../core/protocol/wire/frames.ts';
import {
  type Control,
  type Launch,
  type WorkerMessage,
  workerMessageSchema,
  type WorkerState,
} from '../../../core/protocol/run/messages.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import type { RunError, RunSummary } from '../../../core/protocol/run/record.ts';
import { mayShrink } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import { Relay } from '../../relay/relay.ts';
import { WaveFailure } from './wave-failure.ts';
import { type WaveProcesses, WaveRanks } from './wave-ranks.ts';
import type { WorkerHandle, WorkerListener } from '../workers/worker-handle.ts';
import { applyDiskEvent, type DiskWaits } from '../../../core/protocol/pages/runs/disk-use.ts';
import { applyControl, initialControlState } from '../../../core/protocol/run/control-state.ts';

/** The event of a rank or of the hub (null) that begins or ends a wait for space on the disk. */
interface DiskEvent {
  kind: string;
  rank: number | null;
  message: string;
}

/**
 * What the user has asked of a wave's ranks, and whether time counts for them: not in a pause, nor while a write waits
 * for space.
 */
class WaveControls {
  /** All controls so far, for ranks that have not connected yet: each rank gets the same controls in the same order. */
  readonly sent: Control[] = [];
  readonly #onHold: (isHeld: boolean) => void;
  #state = initialControlState;
  #diskWaits: DiskWaits = new Map();
  #isHeld = false;

  /** @param onHold called when time stops to count for the ranks (true), and when it counts again */
  constructor(onHold: (isHeld: boolean) => void) {
    this.#onHold = onHold;
  }

  add(control: Control): void {
    this.sent.push(control);
    this.#state = applyControl(this.#state, control);
    this.#hold();
  }

  follow(event: DiskEvent): void {
    this.#diskWaits = applyDiskEvent(this.#diskWaits, event);
    this.#hold();
  }

  #hold(): void {
    const isHeld = this.#state.isPaused || this.#diskWaits.size > 0;
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    this.#onHold(isHeld);
  }
}

export interface WaveOptions extends WaveProcesses {
  launch: Omit<Launch, 'placement' | 'groupRanks' | 'nodeRanks'>;
  listener: WaveListener;
}

/** The first message of a worker. */
export type Hello = Pick<WorkerMessage & { type: 'hello' }, 'rank' | 'pid' | 'enforcement'>;

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

/** The ranks that train at the same time: their processes and the relay of their collectives. */
export class Wave {
  private readonly options: WaveOptions;
  private readonly config: RunConfig;
  private readonly ranks: WaveRanks;
  private readonly relay: Relay;
  private readonly failure: WaveFailure;
  private readonly controls = new WaveControls((isHeld) => this.hold(isHeld));
  private readonly ready = new Set<number>();
  private readonly enforcements = new Set<string>();
  private hasStarted = false;
  private stopReason: RunSummary['stopReason'] = 'completed';
  private isAborted = false;

  constructor(options: WaveOptions) {
    this.options = options;
    this.config = options.launch.config;
    this.ranks = new WaveRanks(options, this.config.timeouts, (handle) => this.listen(handle));
    for (const handle of this.ranks.handles) void handle.exited.then(() => this.exited(handle));
    this.relay = this.openRelay();
    this.failure = new WaveFailure({
      config: this.config,
      ranks: this.ranks,
      relay: this.relay,
      hasStarted: () => this.hasStarted,
      stop: () => this.control({ action: 'stop' }),
      dropped: (handle, how, message) => options.listener.dropped(handle, how, message),
    });
  }

  /** Takes the connection of a worker that has sent its hello. */
  accept({ rank, pid, enforcement }: Hello, channel: Channel): void {
    const handle = this.ranks.find(rank);
    // No worker of this wave has that rank, or it is connected already: only another program can have sent this.
    if (handle === undefined || handle.phase !== 'connecting') return channel.close();
    handle.attach(channel, pid);
    this.enforcements.add(describeEnforcement(enforcement));
    this.relay.attach(rank, (frame) => handle.sendFrame(frame));
    const placement = this.ranks.placementOf(rank);
    const where = { placement, groupRanks: this.ranks.all, nodeRanks: this.ranks.onNodeOf(placement) };
    const folders = this.options.foldersOf(placement.device);
    handle.send({ type: 'launch', launch: { ...this.options.launch, ...folders, ...where } });
    for (const control of this.controls.sent) handle.send({ type: 'control', control });
  }

  /** Resolves once every process of the wave has ended. */
  async outcome(): Promise<WaveOutcome> {
    await this.ranks.exited();
    this.failure.close();
    await this.ranks.closeLogs();
    if (this.isAborted) return { kind: 'aborted' };
    const { error, isProcessLost } = this.failure;
    if (error !== null) return { kind: 'failed', error, isProcessLost };
    return { kind: 'finished', stopReason: this.stopReason };
  }

  /** Sends a control to all ranks, and later to those that have not connected yet. */
  control(control: Control): void {
    this.controls.add(control);
    for (const handle of this.ranks.handles) handle.send({ type: 'control', control });
  }

  /** Who limits the processes that have connected, one sentence for each kind. */
  enforcement(): readonly string[] {
    return [...this.enforcements];
  }

  /** The last reported state of each rank. */
  states(): Map<number, WorkerState> {
    return new Map(this.ranks.present.map(({ rank, state }) => [rank, state]));
  }

  /** The last reported position of the rank that is furthest ahead. */
  position(): { epoch: number; step: number } {
    const [{ epoch, step }] = this.ranks.present.sort((a, b) => b.step - a.step);
    return { epoch, step };
  }

  /** Kills all processes immediately. Nothing more is saved. */
  abort(): void {
    this.isAborted = true;
    for (const handle of this.ranks.handles) handle.kill();
  }

  /** Takes the event of a rank or of the hub (null) that begins or ends a wait for space on the disk. */
  follow(event: DiskEvent): void {
    this.controls.follow(event);
  }

  /**
   * Suspends time limits during a pause, in which each rank waits at its next step, and while a write waits for space.
   */
  private hold(isHeld: boolean): void {
    if (isHeld) this.relay.hold();
    else this.relay.release();
    for (const handle of this.ranks.handles) handle.hold(isHeld);
  }

  private openRelay(): Relay {
    const { listener } = this.options;
    return new Relay({
      ranks: this.ranks.all,
      describeRank: (rank) => this.ranks.get(rank).describe(),
      timeoutMs: () => this.collectiveTimeoutMs(),
      stepsOf: (rank) => this.ranks.get(rank).step,
      onSlow: (rank, waitedMs, call) => this.slow(rank, waitedMs, call),
      onBack: (rank) => listener.back(this.ranks.get(rank)),
      dropStuck: (missing, error) => this.failure.dropStuck(missing, error),
      onStuck: (missing, error) => this.failure.stuck(missing, error),
    });
  }

  private listen(handle: () => WorkerHandle): WorkerListener {
    const { listener } = this.options;
    const lose = (how: string): void =>
      this.failure.lose(handle(), how, `Rank ${handle().rank} ${how}. ${handle().describe()}`);
    return {
      frame: (frame) => this.receive(handle(), frame),
      lost: lose,
      slow: (how) => listener.slow(handle(), how),
      back: () => listener.back(handle()),
      overdue: (how) => {
        lose(how);
        handle().kill();
      },
    };
  }

  private exited(handle: WorkerHandle): void {
    this.follow({ kind: 'save-skipped', rank: handle.rank, message: '' });
    this.options.listener.exited(handle);
  }

  private receive(handle: WorkerHandle, frame: Frame): void {
    if (this.ranks.isDropped(handle.rank)) return;
    if (frame.kind !== 'message') return this.relay.receive(handle.rank, frame);
    try {
      const message = workerMessageSchema.parse(frame.message);
      this.take(handle, message);
      this.options.listener.message(handle, message, frame.arrays);
    } catch (error) {
      const reason = messageOf(error);
      this.failure.fail(handle, `Rank ${handle.rank} sent an invalid message: ${reason}. ${handle.describe()}`);
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
      case 'vacated':
        return handle.vacate();
      case 'failed':
        this.failure.take(handle, message);
        return handle.leave();
    }
  }

  /** The ranks stop at once, unless they may continue without the one whose loss was not finite. */
  private stopOnNonFinite(): void {
    if (this.config.onNonFinite === 'stop' && !mayShrink(this.config)) this.control({ action: 'stop' });
  }

  private becomeReady(rank: number): void {
    this.ready.add(rank);
    if (this.ready.size < this.ranks.all.length) return;
    this.options.listener.beforeStart().then(
      () => this.start(),
      (error: unknown) => this.failure.refuse(messageOf(error)),
    );
  }

  private start(): void {
    this.hasStarted = true;
    for (const handle of this.ranks.handles) {
      handle.enter('running');
      handle.send({ type: 'start' });
    }
  }

  private slow(rank: number, waitedMs: number, call: string): void {
    const limitMs = this.collectiveTimeoutMs();
    const how =
      `has not come for ${waitedMs / 1000} s, and the others wait for it in ${call}; it counts as hung after ` +
      `${limitMs / 1000} s`;
    this.options.listener.slow(this.ranks.get(rank), how);
  }

  private collectiveTimeoutMs(): number {
    const { prepareMs, firstCollectiveMs, collectiveMs } = this.config.timeouts;
    if (!this.hasStarted) return prepareMs;
    const allHaveStepped = this.ranks.present.every(({ hasStepped }) => hasStepped);
    return allHaveStepped ? collectiveMs : firstCollectiveMs;
  }
}
