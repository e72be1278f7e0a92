import type { StepOutcome } from '../strategies/strategy.ts';
import type { Position, Report } from '../member/report.ts';

/** The first step whose loss was NaN or infinite. */
export interface NonFinite extends Position {
  loss: number;
}

/** Sum of losses since the last reported point, which may belong to an earlier attempt. */
export interface LossSum {
  loss: number;
  steps: number;
}

/** A round so far. A part of it may belong to an earlier attempt. */
export interface RoundSum extends LossSum {
  samples: number;
  /** Time in which it trained. */
  elapsedMs: number;
}

/** The state of a {@link LossMeter} for a resume. */
export interface SavedLosses {
  interval: LossSum;
  round: RoundSum;
}

const noLosses: LossSum = { loss: 0, steps: 0 };
const noSamples: RoundSum = { ...noLosses, samples: 0, elapsedMs: 0 };

/** Measures a rank's training losses and throughput, and reports them at intervals. */
export class LossMeter {
  private readonly report: Report;
  private readonly everySteps: number;
  private readonly rank: number;
  private interval: LossSum;
  private round: RoundSum;
  /** Start of the round's current part. */
  private startedMs = performance.now();
  /** Steps of the round without an update. */
  private skipped = 0;
  private lastProgressMs = 0;
  /** The first non-finite loss of the current round. */
  nonFinite: NonFinite | null = null;

  constructor(report: Report, everySteps: number, rank: number, saved?: SavedLosses) {
    this.report = report;
    this.everySteps = everySteps;
    this.rank = rank;
    this.interval = { ...(saved?.interval ?? noLosses) };
    this.round = { ...(saved?.round ?? noSamples) };
  }

  /** State for a resume. */
  get state(): SavedLosses {
    return { interval: { ...this.interval }, round: { ...this.round } };
  }

  /** Mean loss of the current round; NaN without an update. */
  get meanLoss(): number {
    return this.round.loss / this.round.steps;
  }

  /** Adds a batch's loss; `position.step` counts its step. */
  add({ loss, updated }: StepOutcome, position: Position): void {
    if (updated) {
      this.interval.loss += loss;
      this.interval.steps += 1;
      this.round.loss += loss;
      this.round.steps += 1;
    } else {
      this.nonFinite ??= { ...position, loss };
      this.skipped += 1;
    }
  }

  /** Counts a step, after its loss. */
  endStep(samples: number, position: Position, learningRate: number): void {
    this.round.samples += samples;
    if (position.step % this.everySteps === 0) this.flushInterval(position, learningRate);
  }

  /** Reports the throughput of this round so far, at most twice a second. */
  reportProgress(position: Position): void {
    const nowMs = performance.now();
    if (nowMs - this.lastProgressMs < 500) return;
    this.lastProgressMs = nowMs;
    this.report.progress(this.samplesPerSecond(nowMs), position);
  }

  /** Call it when a round's training begins, so that evaluation and waiting do not count as training time. */
  beginTraining(): void {
    this.startedMs = performance.now();
  }

  /** Call it when training ends, also within a round. */
  endTraining(): void {
    this.round.elapsedMs += performance.now() - this.startedMs;
    const { nonFinite, skipped } = this;
    if (nonFinite === null) return;
    const message = `Loss was ${nonFinite.loss} first at step ${nonFinite.step}; ${skipped} update(s) were skipped.`;
    this.report.event('non-finite-loss', message, nonFinite);
  }

  /** Reports the throughput of the round. */
  reportRound(position: Position): void {
    const { samples, elapsedMs } = this.round;
    if (samples === 0) return;
    this.report.point(`train/member_${this.rank}_samples_per_second`, (samples * 1000) / elapsedMs, position);
  }

  /** Begins a new round. */
  nextRound(): void {
    this.round = { ...noSamples };
    this.nonFinite = null;
    this.skipped = 0;
  }

  /** Excludes a pause from the round's time. */
  excludePause(pausedMs: number): void {
    this.startedMs += pausedMs;
  }

  private samplesPerSecond(nowMs: number): number {
    return (this.round.samples * 1000) / (this.round.elapsedMs + nowMs - this.startedMs);
  }

  private flushInterval(position: Position, learningRate: number): void {
    const { loss, steps } = this.interval;
    if (steps > 0) this.report.point(`train/member_${this.rank}_loss`, loss / steps, position);
    this.report.point(`train/member_${this.rank}_lr`, learningRate, position);
    this.interval = { loss: 0, steps: 0 };
  }
}
