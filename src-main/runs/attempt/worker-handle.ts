import { messageOf } from '../../../core/text/errors.ts';
import type { Channel } from '../../../core/protocol/wire/channel.ts';
import type { Placement } from '../../../core/protocol/machine/devices.ts';
import type { CollectiveFrame, Frame } from '../../../core/protocol/wire/frames.ts';
import type { HubMessage, WorkerState } from '../../../core/protocol/run/messages.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import type { LogFile } from '../recording/log-file.ts';
import type { WorkerProcess } from './worker-process.ts';

/**
 * - `connecting`: started, has not said hello
 * - `preparing`: loads project, data and model
 * - `ready`: waits for the other ranks
 * - `running`: trains, evaluates, draws
 * - `leaving`: has finished or failed and was asked to go
 * - `exited`
 */
export type WorkerPhase = 'connecting' | 'preparing' | 'ready' | 'running' | 'leaving' | 'exited';

export interface WorkerListener {
  frame(frame: Frame): void;
  /** The process is gone without having been asked to go; `reason` says how. */
  lost(reason: string): void;
  /** A phase took longer than its limit; the process still runs. */
  overdue(reason: string): void;
}

export interface WorkerOptions {
  placement: Placement;
  /** Where it runs; other ranks may run there, too. */
  process: WorkerProcess;
  timeouts: RunConfig['timeouts'];
  log: LogFile;
  listener: WorkerListener;
}

/** One rank of a worker process (`workers/entries/worker.ts`) as a state machine: every phase has a time limit, and leaving ends in force. */
export class WorkerHandle {
  readonly rank: number;
  readonly device: string;
  phase: WorkerPhase = 'connecting';
  /** What the worker last said of itself. */
  state: WorkerState = 'starting';
  epoch = 0;
  step = 0;
  /** Whether it has done a step since it began to train. */
  hasStepped = false;
  /** Resolves when the process is gone, however it went. */
  readonly exited: Promise<void>;
  private readonly options: WorkerOptions;
  private readonly process: WorkerProcess;
  private channel: Channel | null = null;
  private timer: NodeJS.Timeout | null = null;
  /** It waits for the others in a collective. */
  private isWaiting = false;
  private isHeld = false;

  constructor(options: WorkerOptions) {
    this.options = options;
    this.rank = options.placement.rank;
    this.device = options.placement.device.id;
    this.process = options.process;
    this.exited = this.process.ended.then((how) => this.end(how));
    this.enter('connecting');
  }

  get pid(): number | null {
    return this.process.pid;
  }

  /** Takes the worker's connection, once it has said hello with the right token. */
  attach(channel: Channel): void {
    this.channel = channel;
    channel.onFrame((frame) => {
      // A rank that waits for the others is rightly silent; how long it may is the relay's to judge.
      this.isWaiting = frame.kind === 'collective' && !isWithdrawal(frame);
      if (this.isWaiting) this.stopTimer();
      else this.restartTimer();
      this.options.listener.frame(frame);
    });
    this.enter('preparing');
  }

  send(message: HubMessage): void {
    this.sendFrame({ kind: 'message', message, arrays: [] });
  }

  /** Once a worker has gone there is nobody to tell; how it went is reported by `lost`. */
  sendFrame(frame: Frame): void {
    if (this.channel === null || this.phase === 'exited') return;
    if (frame.kind === 'collective') {
      this.isWaiting = false;
      this.restartTimer();
    }
    try {
      this.channel.send(frame);
    } catch (error) {
      this.options.log.write(`(hub) ${messageOf(error)}`);
    }
  }

  /** Takes where the worker says it is. */
  moveTo({ epoch, step }: { epoch: number; step: number }): void {
    this.hasStepped ||= this.state === 'training' && step > this.step;
    this.epoch = epoch;
    this.step = step;
  }

  /** While held, a rank that runs may be silent for as long as it likes. */
  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
    if (this.phase === 'running' && !this.isWaiting) this.restartTimer();
  }

  enter(phase: Exclude<WorkerPhase, 'exited'>): void {
    if (this.phase === 'exited') return;
    this.phase = phase;
    this.restartTimer();
  }

  /** Lets the rank go, and its process once it is the last there; that is killed if it does not go in time. */
  leave(): void {
    if (this.phase === 'exited' || this.phase === 'leaving') return;
    this.phase = 'leaving';
    this.stopTimer();
    this.process.leave(() => {
      this.send({ type: 'leave' });
      this.restartTimer();
    });
  }

  /** Ends the process, and with it the other ranks there. */
  kill(): void {
    if (this.phase === 'exited') return;
    this.phase = 'leaving';
    this.stopTimer();
    this.process.kill();
  }

  /** `rank 1 (cpu:1, pid 4711, training, epoch 3, step 57)` and the last lines it printed. */
  describe(): string {
    const lines = this.options.log.lastLines();
    const tail = lines.length === 0 ? '' : `\nLast lines of its log:\n${lines.map((line) => `  ${line}`).join('\n')}`;
    return `Rank ${this.rank} (${this.device}, pid ${this.pid ?? '-'}, ${this.state}, epoch ${this.epoch}, step ${this.step}).${tail}`;
  }

  private end(how: string): void {
    const wasAsked = this.phase === 'leaving';
    this.phase = 'exited';
    this.stopTimer();
    this.channel?.close();
    if (!wasAsked) this.options.listener.lost(how);
  }

  private restartTimer(): void {
    this.stopTimer();
    const limitMs = this.limitMs();
    if (limitMs === null) return;
    this.timer = setTimeout(() => {
      if (this.phase === 'leaving') this.kill();
      else this.options.listener.overdue(`said nothing for ${limitMs} ms while ${this.phase}`);
    }, limitMs);
  }

  private stopTimer(): void {
    if (this.timer !== null) clearTimeout(this.timer);
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

/** Whether a rank says that it has what it waited for. */
function isWithdrawal(frame: CollectiveFrame): boolean {
  return frame.phase === 'request' && frame.call.stage === 'withdrawn';
}
