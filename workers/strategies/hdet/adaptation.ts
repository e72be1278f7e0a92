import type { RunConfig } from '../../../core/protocol/run/config.ts';
import { adapts } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import { floorFraction, peakStep } from '../../optimizers/schedules.ts';
import type { Course } from './controller.ts';
import type { HdetConfig } from './scalars.ts';

/** Decides from which step on the bases adapt, and towards which values. */
export class AdaptationPlan {
  /** γ of learning rates; null before the first sync that adapts. */
  decay: number | null = null;
  readonly #config: HdetConfig;
  readonly #run: RunConfig;
  readonly #totalSteps: number;

  constructor(config: HdetConfig, run: RunConfig, totalSteps: number) {
    this.#config = config;
    this.#run = run;
    this.#totalSteps = totalSteps;
  }

  /**
   * Whether bases adapt at a sync after so many steps: once the warm-up, or the rise of a one-cycle schedule, has
   * passed.
   */
  isDue(stepsDone: number): boolean {
    const { warmupSteps } = this.#config;
    return adapts(this.#config) && stepsDone >= (warmupSteps > 0 ? warmupSteps : this.#peak);
  }

  /**
   * The course of each scalar. The first sync that adapts fixes a learning rate's γ from its base then. Its floor is
   * the last rate of a one-cycle schedule, else 0. Other scalars have no final value, so no decay.
   * @param rate the base of learning rates
   * @param learningRates names of the scalars that are learning rates
   */
  courses(stepsDone: number, rate: number, learningRates: readonly string[]): (name: string) => Course {
    const { decay, averageEverySteps } = this.#config;
    const { schedule, optimizer } = this.#run;
    const syncs = Math.ceil((this.#totalSteps - stepsDone) / averageEverySteps);
    const floor = schedule.kind === 'one-cycle' ? optimizer.learningRate * floorFraction(schedule) : 0;
    const rateDecay = (this.decay ??= decay ?? decayTo(floor, rate, syncs));
    return (name) => (learningRates.includes(name) ? { decay: rateDecay, floor } : { decay: 0, floor: 0 });
  }

  get #peak(): number {
    const { schedule } = this.#run;
    return schedule.kind === 'one-cycle' ? peakStep(schedule, this.#totalSteps) : 0;
  }
}

/** The γ with base·(1 − γ)^syncs = floor; 0 where the base is at the floor already. */
export function decayTo(floor: number, base: number, syncs: number): number {
  return base <= floor ? 0 : 1 - (floor / base) ** (1 / Math.max(1, syncs));
}
