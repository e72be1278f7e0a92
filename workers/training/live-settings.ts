import { z } from 'zod';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import { type RunSettings, type SettingChanges, settingNames, settingPaths } from '../../core/protocol/run/settings.ts';
import type { Callback } from '../callbacks/callback.ts';
import type { Sampler } from '../data/samplers.ts';
import type { Position, Report } from '../member/report.ts';
import type { UpdateSettings } from '../optimizers/optimizer.ts';
import { isSpread, settingsAt } from '../optimizers/schedules.ts';
import type { TrainingProgress } from './rank-training.ts';
import { scheduledEpochs, scheduledSteps } from './round-plan.ts';

/** The learning rate that the next step would have, and over how many steps and epochs its schedule is spread. */
export const savedScheduleSchema = z.strictObject({
  learningRate: z.number(),
  totalSteps: z.int(),
  epochs: z.int(),
});
export type SavedSchedule = z.output<typeof savedScheduleSchema>;

interface SettingsOptions {
  config: RunConfig;
  callbacks: readonly Callback[];
  report: Report;
  sampler: Sampler;
}

/**
 * A rank's current settings, and what the schedule makes of them at each step. Passes them to its callbacks, and
 * reports every change to the hub.
 */
export class LiveSettings {
  /** The steps over which the schedule is spread. */
  readonly totalSteps: number;
  readonly #config: RunConfig;
  readonly #callbacks: readonly Callback[];
  readonly #report: Report;
  #now: RunSettings;

  constructor({ config, callbacks, report, sampler }: SettingsOptions, first: RunSettings, done: TrainingProgress) {
    this.totalSteps = scheduledSteps(config, sampler, done);
    this.#config = config;
    this.#callbacks = callbacks;
    this.#report = report;
    this.#now = first;
    this.#notifyCallbacks();
  }

  get now(): Readonly<RunSettings> {
    return this.#now;
  }

  /** Adopts requested values that differ from the current ones, from the step after `position` on. */
  adopt(requested: Readonly<SettingChanges>, position: Position): void {
    for (const name of settingNames) {
      const [from, to] = [this.#now[name], requested[name]];
      if (to === undefined || to === from) continue;
      this.#now = { ...this.#now, [name]: to };
      this.#notifyCallbacks();
      const path = settingPaths[name];
      this.#report.event('changed', `${path} changed from ${from} to ${to}.`, position, { path, from, to });
    }
  }

  #notifyCallbacks(): void {
    for (const callback of this.#callbacks) callback.onSettings?.(this.#now);
  }

  /** What the configuration makes of a step, before a strategy changes it. */
  at({ epoch, step: taken }: Position): UpdateSettings {
    const { schedule } = this.#config;
    const { totalSteps } = this;
    const reductions = this.#callbacks.map((callback) => callback.rateFactorAt?.(epoch) ?? 1);
    const reduction = reductions.reduce((product, factor) => product * factor, 1);
    const base = this.#now.learningRate * rateScale(this.#config, taken);
    // Steps after the planned ones have the last planned rate.
    const step = isSpread(schedule) ? Math.min(taken, totalSteps - 1) : taken;
    return settingsAt(schedule, base, { epoch, step, totalSteps, reduction });
  }

  /** @param next the epoch and the step to come */
  scheduleAt(next: Position): SavedSchedule {
    const { learningRate } = this.at(next);
    return { learningRate, totalSteps: this.totalSteps, epochs: scheduledEpochs(this.#config) };
  }

  /** Tells the user where the learning rate of the next step is another one than before a resume. */
  announceJump(before: SavedSchedule, next: Position, position: Position): void {
    const now = this.scheduleAt(next);
    const [from, to] = [before.learningRate, now.learningRate];
    if (Math.abs(to - from) <= 1e-9 * from) return;
    const { schedule } = this.#config;
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
    this.#report.event('rate-jumped', `The learning rate goes from ${rates}, because ${cause}.${remedy}`, position, {
      from,
      to,
    });
  }
}

/**
 * What a strategy multiplies the base learning rate by at a step s. By the linear scaling rule that is k = N · A for N
 * ranks that accumulate A batches, after a warm-up of W steps: 1 + (k − 1) · min(1, (s + 1) / W). A warm-up of the
 * schedule comes on top.
 *
 * Goyal et al. (2017), "Accurate, large minibatch SGD: training ImageNet in 1 hour", sections 2.1 and 2.2.
 */
export function rateScale({ strategy, members: ranks }: Pick<RunConfig, 'strategy' | 'members'>, step: number): number {
  if (!('learningRateScaling' in strategy) || strategy.learningRateScaling === 'none') return 1;
  const growth = ranks * strategy.accumulate - 1;
  const { scalingWarmupSteps } = strategy;
  return step + 1 >= scalingWarmupSteps ? 1 + growth : 1 + (growth * (step + 1)) / scalingWarmupSteps;
}
