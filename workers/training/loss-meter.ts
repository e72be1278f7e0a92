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

/** Measures a rank's training losses and throughput, and reports them at intervals. */
export class LossMeter {
  private readonly report: Report;
  private readonly everySteps: number;
  private readonly rank: number;
  private interval: LossSum;
  private round = { loss: 0, steps: 0, samples: 0, skipped: 0, startedMs: performance.now() };
  private lastProgressMs = 0;
  /** Of the current round. */
  nonFinite: NonFinite | null = null;

  constructor(report: Report, everySteps: number, rank: number, interval: LossSum = { loss: 0, steps: 0 }) {
    this.report = report;
    this.everySteps = everySteps;
    this.rank = rank;
    this.interval = { ...interval };
  }

  /** State for a resume. */
  get losses(): LossSum {
    return { ...this.interval };
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
      this.round.skipped += 1;
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

  /** Ends the round and begins a new one. @returns the mean loss, NaN without an update, and the first non-finite loss */
  endRound(position: Position): { meanLoss: number; nonFinite: NonFinite | null } {
    const { round, nonFinite } = this;
    if (round.samples > 0) {
      this.report.point(
        `train/member_${this.rank}_samples_per_second`,
        this.samplesPerSecond(performance.now()),
        position,
      );
    }
    if (nonFinite !== null) {
      const message = `Loss was ${nonFinite.loss} first at step ${nonFinite.step}; ${round.skipped} update(s) were skipped.`;
      this.report.event('non-finite-loss', message, nonFinite);
    }
    this.round = { loss: 0, steps: 0, samples: 0, skipped: 0, startedMs: performance.now() };
    this.nonFinite = null;
    return { meanLoss: round.loss / round.steps, nonFinite };
  }

  /** Call it when a round's training begins, so that evaluation and waiting do not count as training time. */
  beginRound(): void {
    this.round.startedMs = performance.now();
  }

  /** Excludes a pause from the round's time. */
  excludePause(pausedMs: number): void {
    this.round.startedMs += pausedMs;
  }

  private samplesPerSecond(nowMs: number): number {
    return (this.round.samples * 1000) / (nowMs - this.round.startedMs);
  }

  private flushInterval(position: Position, learningRate: number): void {
    const { loss, steps } = this.interval;
    if (steps > 0) this.report.point(`train/member_${this.rank}_loss`, loss / steps, position);
    this.report.point(`train/member_${this.rank}_lr`, learningRate, position);
    this.interval = { loss: 0, steps: 0 };
  }
}
