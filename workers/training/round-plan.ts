import type { RunConfig } from '../../core/protocol/run/config.ts';
import type { Sampler } from '../data/samplers.ts';
import type { Controls } from './controls.ts';
import type { Lockstep } from './rendezvous.ts';
import type { LossMeter } from './loss-meter.ts';
import type { TrainingProgress } from './rank-training.ts';

interface PlanOptions {
  config: RunConfig;
  sampler: Sampler;
  controls: Controls;
  /** Where the ensemble of a missing member that trains alone ended. */
  completion?: { until: { step: number } } | null;
}

/**
 * How far a rank trains: to the end of its round, at most to its last step, and no further once something ends its
 * training.
 */
export class RoundPlan {
  readonly totalSteps: number;
  /** The last step, which is before `totalSteps` for a missing member whose ensemble ended there. */
  readonly lastStep: number;
  readonly #config: RunConfig;
  readonly #controls: Controls;
  readonly #progress: TrainingProgress;
  readonly #meter: LossMeter;
  readonly #lockstep: Lockstep | null;

  constructor(options: PlanOptions, progress: TrainingProgress, meter: LossMeter, lockstep: Lockstep | null) {
    const { config, sampler, controls, completion } = options;
    this.totalSteps = plannedSteps(config, sampler, progress);
    this.lastStep = Math.min(this.totalSteps, completion?.until.step ?? Infinity);
    this.#config = config;
    this.#controls = controls;
    this.#progress = progress;
    this.#meter = meter;
    this.#lockstep = lockstep;
  }

  /** Epochs before the next planned rendezvous. */
  get plannedEnd(): number {
    const { evaluateEveryEpochs } = this.#config;
    return (Math.floor(this.#progress.rendezvous / evaluateEveryEpochs) + 1) * evaluateEveryEpochs;
  }

  /** Epochs before the round's end, which the last epoch may bring earlier. */
  get lastEpoch(): number {
    return Math.min(this.#config.maxEpochs, this.plannedEnd);
  }

  /** Whether this rank has come to the next planned rendezvous, or does no more steps. */
  get isAtPlannedEnd(): boolean {
    return this.#hasEnded || this.#progress.epoch >= this.plannedEnd;
  }

  /** Whether this rank has done all its steps of the round. */
  get isRoundComplete(): boolean {
    const { epoch, step } = this.#progress;
    return this.#hasEnded || epoch >= this.lastEpoch || step >= this.totalSteps;
  }

  /** Whether this rank has done all its steps. */
  get isDone(): boolean {
    return this.#progress.epoch >= this.#config.maxEpochs || this.#progress.step >= this.lastStep;
  }

  /** Whether this rank's training must end within the round. */
  get mustHalt(): boolean {
    const controls = this.#controls;
    const failed = this.#lockstep === null ? this.hasFailed : this.#lockstep.mustHalt;
    return (
      failed ||
      controls.stopRequested ||
      controls.isHubGone ||
      this.#progress.standingBy ||
      this.#progress.step >= this.lastStep
    );
  }

  /** Whether this rank's loss was not finite and that ends the run. */
  get hasFailed(): boolean {
    return this.#meter.nonFinite !== null && this.#config.onNonFinite === 'stop';
  }

  /**
   * Whether this rank does no more steps. Where the others may continue without a rank that failed, its round is
   * theirs.
   */
  get #hasEnded(): boolean {
    return this.#progress.standingBy || this.hasFailed;
  }
}

/** How far a rank is. */
type Done = Pick<TrainingProgress, 'epoch' | 'batch' | 'step'>;
const nothing: Done = { epoch: 0, batch: 0, step: 0 };

/**
 * The most steps that a rank does: those that it has done, and those that are left. Earlier attempts may have had other
 * batches.
 */
export function plannedSteps(config: RunConfig, sampler: Sampler, done: Done = nothing): number {
  const left = (config.maxEpochs - done.epoch) * sampler.batchesPerEpoch - done.batch;
  const steps = done.step + Math.max(0, left);
  return config.maxSteps > 0 ? Math.min(config.maxSteps, steps) : steps;
}

/**
 * The steps over which schedules are spread: all that a rank does, unless the configuration names more or fewer epochs.
 */
export function scheduledSteps(config: RunConfig, sampler: Sampler, done: Done = nothing): number {
  return plannedSteps({ ...config, maxEpochs: scheduledEpochs(config) }, sampler, done);
}

export function scheduledEpochs({ scheduleEpochs, maxEpochs }: RunConfig): number {
  return scheduleEpochs === 0 ? maxEpochs : scheduleEpochs;
}
