import { TimeLimit } from '../../../core/node/time-limit.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import type { WorkerMessage } from '../../../core/protocol/run/messages.ts';
import type { RunError } from '../../../core/protocol/run/record.ts';
import { mayShrink } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import type { Relay } from '../../relay/relay.ts';
import type { WaveRanks } from './wave-ranks.ts';
import type { WorkerHandle } from '../workers/worker-handle.ts';

/** What a wave does because a rank failed. */
export interface WaveFailureOptions {
  config: RunConfig;
  ranks: WaveRanks;
  relay: Pick<Relay, 'rankLeft' | 'drop'>;
  /** Whether all ranks were ready, and training has begun. */
  hasStarted(): boolean;
  /** Asks all ranks to stop. */
  stop(): void;
  /** @param how the end of a sentence: `was killed by SIGKILL` */
  dropped(handle: WorkerHandle, how: string, message: string): void;
}

const tooLate = 'did not come to a collective in time';

/** Decides what the failure of a rank means for the others: they continue without it, or the wave fails as a whole. */
export class WaveFailure {
  readonly #options: WaveFailureOptions;
  #cause: RunError | null = null;
  /** The error of the first rank that failed only because its group failed. */
  #consequence: RunError | null = null;
  #isProcessLost = false;
  #grace: TimeLimit | null = null;

  constructor(options: WaveFailureOptions) {
    this.#options = options;
  }

  /**
   * Null while nothing has failed. If ranks disagree about a collective, none of them is the cause, and the consequence
   * is the only error.
   */
  get error(): RunError | null {
    return this.#cause ?? this.#consequence;
  }

  /** Whether the first failure was that of a process that died or hung. */
  get isProcessLost(): boolean {
    return this.#isProcessLost;
  }

  /** Takes the error that a rank has reported. */
  take(handle: WorkerHandle, { error, isConsequence }: WorkerMessage & { type: 'failed' }): void {
    if (isConsequence) this.#consequence ??= error;
    else if (!this.#drop(handle, `failed: ${error.message}`, error.message)) this.fail(handle, error.message, error);
  }

  /** Fails the group because one rank failed. Ranks that train are asked to stop, and get time to exit. */
  fail(handle: WorkerHandle, message: string, at: Partial<RunError> = {}): void {
    const { ranks, relay, config } = this.#options;
    const { rank, device, epoch, step } = handle;
    this.#cause ??= { rank, device, epoch, step, ...at, message };
    relay.rankLeft(rank, message.split('\n')[0]);
    this.#options.stop();
    // They have nothing to save before the start.
    if (!this.#options.hasStarted()) return killAll(ranks.handles.filter((other) => other !== handle));
    this.#grace ??= new TimeLimit(config.timeouts.exitMs, () => killAll(ranks.handles));
  }

  /** Like `fail`, for a lost process. The loss only counts if it is the first failure. */
  lose(handle: WorkerHandle, how: string, message: string): void {
    if (this.#drop(handle, how, message)) return;
    this.#isProcessLost ||= this.#cause === null;
    this.fail(handle, message);
  }

  /** Ends the wave before its start, for a reason that is no rank's. */
  refuse(message: string): void {
    this.#cause ??= { message, rank: null, device: null, epoch: null, step: null };
    killAll(this.#options.ranks.handles);
  }

  /**
   * Lets the others continue without ranks that did not come to a collective.
   * @returns whether that is allowed for all of them
   */
  dropStuck(missing: number[], { message }: Error): boolean {
    const stuck = missing.map((rank) => this.#options.ranks.get(rank));
    const areDropped = stuck.every((handle) => this.#drop(handle, tooLate, message));
    if (areDropped) killAll(stuck);
    return areDropped;
  }

  /** Fails the group because of ranks that did not come to a collective. */
  stuck(missing: number[], { message }: Error): void {
    for (const handle of missing.map((rank) => this.#options.ranks.get(rank))) {
      this.lose(handle, tooLate, message);
      handle.kill();
    }
  }

  /** Call it when all processes have ended. */
  close(): void {
    this.#grace?.stop();
  }

  /** Lets the other ranks continue without this one. @returns whether the run's policy and state allow that */
  #drop(lost: WorkerHandle, how: string, message: string): boolean {
    const { ranks, config, relay } = this.#options;
    if (ranks.isDropped(lost.rank)) return true;
    const remaining = ranks.present.filter((handle) => handle !== lost);
    if (!mayShrink(config) || !this.#options.hasStarted() || this.#cause !== null || remaining.length === 0)
      return false;
    ranks.drop(lost.rank);
    // Each rank learns it before the first result without the lost one.
    for (const handle of remaining) handle.send({ type: 'remaining', ranks: remaining.map(({ rank }) => rank) });
    relay.drop(lost.rank);
    this.#options.dropped(lost, how, message);
    return true;
  }
}

function killAll(handles: readonly WorkerHandle[]): void {
  for (const handle of handles) handle.kill();
}
