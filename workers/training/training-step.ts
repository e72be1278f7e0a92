import type { Batch } from '../data/dataset.ts';
import type { UpdateSettings } from '../optimizers/optimizer.ts';
import { rateScale } from '../optimizers/rate-scaling.ts';
import { isSpread, settingsAt } from '../optimizers/schedules.ts';
import type { LiveSettings } from './live-settings.ts';
import type { LossMeter } from './loss-meter.ts';
import type { RankTraining } from './rank-training.ts';
import { scheduledEpochs } from './round-plan.ts';
import type { SavedSchedule } from './snapshot.ts';

/** Does the steps of a rank: batch, update, and what the strategy and the meter report of it. */
export class TrainingStep {
  readonly #training: RankTraining;
  readonly #settings: LiveSettings;
  readonly #meter: LossMeter;
  readonly #totalSteps: number;

  constructor(training: RankTraining, settings: LiveSettings, meter: LossMeter, totalSteps: number) {
    this.#training = training;
    this.#settings = settings;
    this.#meter = meter;
    this.#totalSteps = totalSteps;
  }

  /** Trains on the samples of these indices, and moves one step on. */
  async run(indices: Int32Array): Promise<void> {
    const { parts, progress } = this.#training;
    const position = {
      epoch: progress.epoch,
      step: progress.step,
      totalSteps: this.#totalSteps,
      rank: parts.files.rank,
    };
    const settings = this.#settingsAt(position);
    const batch = await parts.batches.batch(indices, { ...position, batch: progress.batch });
    const outcome = await parts.strategy.trainStep(parts.member, batch, settings, position);
    progress.batch += 1;
    progress.step += 1;
    if (outcome !== null) this.#meter.add(outcome, this.#training.position);
    const end = { loss: outcome?.loss ?? null, learningRate: outcome?.learningRate ?? settings.learningRate };
    this.#meter.endStep(indices.length, this.#training.position, end.learningRate);
    this.#training.endStep(end);
    this.#reportStrategy();
  }

  /** What the configuration makes of the next step, before a strategy changes it. */
  get schedule(): SavedSchedule {
    const { parts, progress } = this.#training;
    const { epoch, step } = progress;
    const { learningRate } = this.#settingsAt({ epoch, step, totalSteps: this.#totalSteps });
    return { learningRate, totalSteps: this.#totalSteps, epochs: scheduledEpochs(parts.config) };
  }

  /**
   * Tells the user that the learning rate of the next step is another one than before a resume. A strategy that adapts
   * its own has no such jump.
   */
  announceJump(before: SavedSchedule): void {
    const { parts, position, isFirst } = this.#training;
    const now = this.schedule;
    const [from, to] = [before.learningRate, now.learningRate];
    const isScheduled = parts.strategy.followsSchedule?.() ?? true;
    if (!isFirst || !isScheduled || Math.abs(to - from) <= 1e-9 * from) return;
    const { schedule } = parts.config;
    const cause =
      !isSpread(schedule) || now.totalSteps === before.totalSteps
        ? `the schedule ${schedule.kind} has other options now`
        : `the schedule ${schedule.kind} is spread over ${now.totalSteps} steps now, and was over ${before.totalSteps}`;
    const remedy =
      now.epochs === before.epochs
        ? ''
        : ` To end with the rates that were planned, resume with --schedule-epochs ${before.epochs}. A run that is ` +
          'to go on later needs --schedule-epochs from its start.';
    const rates = [from, to].map((rate) => Number(rate.toPrecision(4))).join(' to ');
    parts.report.event('rate-jumped', `The learning rate goes from ${rates}, because ${cause}.${remedy}`, position, {
      from,
      to,
    });
  }

  /** The batch of the step before the present position. */
  async lastBatch(): Promise<Batch> {
    const { sampler, batches } = this.#training.parts;
    const { epoch, batch, step } = this.#training.progress;
    const [ofEpoch, index] = batch > 0 ? [epoch, batch - 1] : [epoch - 1, sampler.batchesPerEpoch - 1];
    const at = { epoch: ofEpoch, batch: index, step: step - 1 };
    return await batches.batch([...sampler.batches(ofEpoch)][index], at);
  }

  /** Reports what the strategy has to say at the present position. */
  reportEvents(): void {
    const { strategy, report } = this.#training.parts;
    for (const { kind, message, data, points } of strategy.events?.() ?? []) {
      if (this.#training.isFirst) report.event(kind, message, this.#training.position, data);
      for (const [name, value] of points) report.point(name, value, this.#training.position);
    }
  }

  #settingsAt(position: { epoch: number; step: number; totalSteps: number }): UpdateSettings {
    const { callbacks, config } = this.#training.parts;
    const reductions = callbacks.map((callback) => callback.rateFactorAt?.(position.epoch) ?? 1);
    const reduction = reductions.reduce((product, factor) => product * factor, 1);
    const base = this.#settings.now.learningRate * rateScale(config, position.step);
    // Steps after the planned ones have the last planned rate.
    const step = isSpread(config.schedule) ? Math.min(position.step, position.totalSteps - 1) : position.step;
    return settingsAt(config.schedule, base, { ...position, step, reduction });
  }

  #reportStrategy(): void {
    const { config, strategy, report } = this.#training.parts;
    this.reportEvents();
    if (this.#training.progress.step % config.logEverySteps !== 0) return;
    for (const [name, value] of strategy.points?.() ?? []) report.point(name, value, this.#training.position);
  }
}
