import { countEpoch } from '../../../core/text/numbers.ts';
import { messageOf } from '../../../core/text/errors.ts';
import { TimeLimit } from '../../../core/node/time-limit.ts';
import type { Channel } from '../../../core/protocol/wire/channel.ts';
import type { Placement } from '../../../core/protocol/machine/devices.ts';
import type { CollectiveFrame, Frame } from '../../../core/protocol/wire/frames.ts';
import type { HubMessage, WorkerState } from '../../../core/protocol/run/messages.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import type { LogFile } from '../recording/log-file.ts';
import type { RankProcess } from './worker-process.ts';

/**
 * - `connecting`: started, has not sent its hello
 * - `preparing`: loads project, data and model
 * - `ready`: waits for the other ranks
 * - `running`: trains, evaluates, draws
 * - `leaving`: has finished or failed and was asked to exit
 * - `exited`
 */
export type WorkerPhase = 'connecting' | 'preparing' | 'ready' | 'running' | 'leaving' | 'exited';

export interface WorkerListener {
  frame(frame: Frame): void;
  /** The process ended without having been asked to exit. `reason` says how. */
  lost(reason: string): void;
  /** Half of a phase's time limit has passed without a message. `reason` says which. */
  slow(reason: string): void;
  /** It has sent a message after it was slow. */
  back(): void;
  /** A phase exceeded its time limit. The process still runs. */
  overdue(reason: string): void;
}

export interface WorkerOptions {
  placement: Placement;
  /** The process of the rank. Other ranks may run in it too. */
  process: RankProcess;
  timeouts: RunConfig['timeouts'];
  log: LogFile;
  listener: WorkerListener;
}

const tellEveryMs = 1_000;

/**
 * One rank of a worker process (`workers/entries/worker.ts`) as a state machine. Every phase has a time limit, and a
 * worker that does not exit is killed.
 */
export class WorkerHandle {
  readonly rank: number;
  readonly device: string;
  phase: WorkerPhase = 'connecting';
  /** The last state that the worker reported. */
  state: WorkerState = 'starting';
  epoch = 0;
  step = 0;
  /** Whether it has completed a step since it started to train. */
  hasStepped = false;
  /** Resolves when the process has ended, for whatever reason, or stays for the next run. */
  readonly exited: Promise<void>;
  private readonly options: WorkerOptions;
  private readonly process: RankProcess;
  private lastToldMs = 0;
  private ownPid: number | null = null;
  private channel: Channel | null = null;
  /** The limit of the present phase, in ms, while it counts. */
  private limit: { ms: number; counting: TimeLimit } | null = null;
  /** Whether it waits for other ranks in a collective. */
  private isWaiting = false;
  private isHeld = false;
  private isSlow = false;

  constructor(options: WorkerOptions) {
    this.options = options;
    this.rank = options.placement.rank;
    this.device = options.placement.device.id;
    this.process = options.process;
    this.exited = this.process.ended.then((how) => this.end(how));
    this.enter('connecting');
  }

  /** The process id of the worker or, before its hello, of its keeper. */
  get pid(): number | null {
    return this.ownPid ?? this.process.pid;
  }

  /** Takes the worker's connection, once it has sent its hello with the right token. */
  attach(channel: Channel, pid: number): void {
    this.ownPid = pid;
    this.channel = channel;
    channel.onFrame((frame) => {
      this.endSilence();
      // A rank that waits for other ranks sends nothing. The relay limits that wait.
      this.isWaiting = frame.kind === 'collective' && !isWithdrawal(frame);
      if (this.isWaiting) this.stopLimit();
      else this.restartLimit();
      this.options.listener.frame(frame);
    });
    this.enter('preparing');
  }

  send(message: HubMessage): void {
    this.sendFrame({ kind: 'message', message, arrays: [] });
  }

  /**
   * Tells the rank how many of its points are written, once a second: it saves the others in its state when the hub
   * dies.
   */
  tellWritten(count: () => number): void {
    const nowMs = performance.now();
    if (nowMs - this.lastToldMs < tellEveryMs) return;
    this.lastToldMs = nowMs;
    this.send({ type: 'written', count: count() });
  }

  /** Does nothing once the worker has ended; `lost` has reported that. */
  sendFrame(frame: Frame): void {
    if (this.channel === null || this.phase === 'exited') return;
    if (frame.kind === 'collective') {
      this.isWaiting = false;
      this.restartLimit();
    }
    try {
      this.channel.send(frame);
    } catch (error) {
      this.options.log.write(`(hub) ${messageOf(error)}`);
    }
  }

  /** Sets the position that the worker reported. */
  moveTo({ epoch, step }: { epoch: number; step: number }): void {
    this.hasStepped ||= this.state === 'training' && step > this.step;
    this.epoch = epoch;
    this.step = step;
  }

  /** Suspends the silence limit of a running rank, or restores it. */
  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
    if (this.phase === 'running' && !this.isWaiting) this.restartLimit();
  }

  enter(phase: Exclude<WorkerPhase, 'exited'>): void {
    if (this.phase === 'exited') return;
    this.phase = phase;
    this.restartLimit();
  }

  /** Asks the process to exit once all its ranks are done with it. It is killed if it does not exit in time. */
  leave(): void {
    if (this.phase === 'exited' || this.phase === 'leaving') return;
    this.phase = 'leaving';
    this.stopLimit();
    this.process.leave(() => {
      this.send({ type: 'leave' });
      this.restartLimit();
    });
  }

  /** The rank has left its process, which stays for the next run or for others. */
  vacate(): void {
    if (this.phase === 'leaving') this.process.vacate();
  }

  /** Kills the process, and with it the run's other ranks in it. */
  kill(): void {
    if (this.phase === 'exited') return;
    this.phase = 'leaving';
    this.stopLimit();
    this.process.kill(() => this.send({ type: 'abandon' }));
  }

  /** `rank 1 (cpu:1, pid 4711, training, epoch 3, step 57)` and the last lines that it printed. */
  describe(): string {
    const lines = this.options.log.lastLines();
    const tail = lines.length === 0 ? '' : `\nLast lines of its log:\n${lines.map((line) => `  ${line}`).join('\n')}`;
    return (
      `Rank ${this.rank} (${this.device}, pid ${this.pid ?? '-'}, ${this.state}, epoch ` +
      `${countEpoch(this.epoch)}, step ${this.step}).${tail}`
    );
  }

  private end(how: string): void {
    const wasAsked = this.phase === 'leaving';
    this.phase = 'exited';
    this.stopLimit();
    this.channel?.close();
    if (!wasAsked) this.options.listener.lost(how);
  }

  private restartLimit(): void {
    const ms = this.limitMs();
    if (ms !== null && ms === this.limit?.ms) return this.limit.counting.restart();
    this.stopLimit();
    if (ms === null) return;
    const exceed = (): void => {
      this.limit = null;
      if (this.phase === 'leaving') this.kill();
      else this.options.listener.overdue(`said nothing for ${ms} ms while ${this.phase}`);
    };
    const isLoading = this.phase === 'connecting' || this.phase === 'preparing';
    const halfway = (): void => this.beSlow(ms);
    const waitedMs = isLoading ? this.process.waitedMs : undefined;
    this.limit = { ms, counting: new TimeLimit(ms, exceed, { halfway, waitedMs }) };
  }

  private beSlow(limitMs: number): void {
    if (this.phase !== 'running' && this.phase !== 'preparing') return;
    this.isSlow = true;
    this.options.listener.slow(
      `has said nothing for ${limitMs / 2000} s while ${this.phase}; it counts as hung after ${limitMs / 1000} s`,
    );
  }

  private endSilence(): void {
    if (this.isSlow) this.options.listener.back();
    this.isSlow = false;
  }

  private stopLimit(): void {
    this.limit?.counting.stop();
    this.limit = null;
  }

  private limitMs(): number | null {
    const { connectMs, prepareMs, silenceMs, exitMs } = this.options.timeouts;
    const limits = {
      connecting: connectMs,
      preparing: prepareMs,
      ready: null,
      running: this.isHeld ? null : silenceMs,
      leaving: exitMs,
      exited: null,
    };
    return limits[this.phase];
  }
}

/** Whether the rank withdraws its request because it no longer waits. */
function isWithdrawal(frame: CollectiveFrame): boolean {
  return frame.phase === 'request' && frame.call.stage === 'withdrawn';
}
