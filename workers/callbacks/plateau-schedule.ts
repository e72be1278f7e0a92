import { z } from 'zod';
import { improves, type MetricMode, resolveMode } from '../../core/metrics/metric-mode.ts';
import type { ScheduleConfig } from '../../core/protocol/run/config.ts';
import {
  monitored,
  resolveMonitor,
  withoutImprovement,
  type Callback,
  type Evaluation,
  type Training,
} from './callback.ts';

type PlateauConfig = Extract<ScheduleConfig, { kind: 'plateau' }>;

/** The share of the base rate after the evaluation of an epoch. */
const reductionSchema = z.strictObject({ epoch: z.int(), rateFactor: z.number() });
type Reduction = z.output<typeof reductionSchema>;

const savedSchema = z.strictObject({
  monitor: z.string(),
  reductions: z.array(reductionSchema),
  best: z.number().nullable(),
  waited: z.int(),
  cooling: z.int(),
});

/**
 * Multiplies the learning rate by `factor`, down to `floorFraction` of the base rate, once the monitored metric has not
 * improved by more than `minDelta` in more than `patience` evaluations. The `cooldown` evaluations after a reduction do
 * not count, nor do those in which the metric is NaN. Otherwise as PyTorch's `ReduceLROnPlateau` with an absolute
 * threshold. On a metric of the ensemble all ranks decide alike.
 */
export class PlateauSchedule implements Callback {
  readonly name = 'plateau-schedule';
  readonly #config: Omit<PlateauConfig, 'kind' | 'warmupSteps'>;
  readonly #mode: MetricMode;
  #reductions: Reduction[] = [];
  #best: number | null = null;
  #waited = 0;
  #cooling = 0;

  /** @param config with the full name of the metric in `monitor`, not `auto` */
  constructor(config: Omit<PlateauConfig, 'kind' | 'warmupSteps'>) {
    this.#config = config;
    this.#mode = resolveMode(config.monitor, config.mode, 'schedule.mode');
  }

  /** Whether all ranks watch the same metric. */
  get isCommon(): boolean {
    return !this.#config.monitor.includes('{rank}');
  }

  rateFactorAt(epoch: number): number {
    return factorAt(this.#reductions, epoch);
  }

  async onEvaluation(training: Training, { metrics }: Evaluation): Promise<void> {
    const { monitor, patience, minDelta, cooldown } = this.#config;
    const score = monitored(metrics, monitor, training.rank);
    if (Number.isNaN(score)) return;
    if (improves(score, this.#best, this.#mode, minDelta)) {
      this.#best = score;
      this.#waited = 0;
    } else this.#waited += 1;
    if (this.#cooling > 0) {
      this.#cooling -= 1;
      this.#waited = 0;
    }
    if (this.#waited <= patience) return;
    this.#reduce(training);
    this.#cooling = cooldown;
    this.#waited = 0;
  }

  #reduce(training: Training): void {
    const { monitor, factor, floorFraction, patience } = this.#config;
    const before = this.#reductions.at(-1)?.rateFactor ?? 1;
    const rateFactor = Math.max(before * factor, floorFraction);
    if (rateFactor === before) return;
    this.#reductions.push({ epoch: training.epoch, rateFactor });
    if (this.isCommon && training.rank !== training.group.ranks[0]) return;
    const metric = resolveMonitor(monitor, training.rank);
    training.announce(
      'learning-rate-reduced',
      `${withoutImprovement(metric, patience + 1, this.#best)} The learning rate is now ${rateFactor} of the ` +
        'base rate.',
    );
  }

  state(): z.output<typeof savedSchema> {
    const { monitor } = this.#config;
    const [best, waited, cooling] = [this.#best, this.#waited, this.#cooling];
    return { monitor, reductions: [...this.#reductions], best, waited, cooling };
  }

  /** A resume may monitor another metric: the saved best value does not apply to it, but the reduction does. */
  restore(state: unknown): void {
    const { monitor, reductions, best, waited, cooling } = savedSchema.parse(state);
    this.#reductions = reductions;
    this.#cooling = cooling;
    if (monitor !== this.#config.monitor) return;
    this.#best = best;
    this.#waited = waited;
  }
}

/** The reductions of the other members' learning rate, for a missing member that is trained later. */
export class FollowedPlateau implements Callback {
  readonly name = 'plateau-schedule';
  readonly #state: unknown;
  readonly #reductions: readonly Reduction[];

  /** @param state the saved state of the others' {@link PlateauSchedule} */
  constructor(state: unknown) {
    this.#state = state;
    this.#reductions = savedSchema.parse(state).reductions;
  }

  rateFactorAt(epoch: number): number {
    return factorAt(this.#reductions, epoch);
  }

  state(): unknown {
    return this.#state;
  }
}

/** A reduction after the evaluation of an epoch applies from the next epoch on. */
function factorAt(reductions: readonly Reduction[], epoch: number): number {
  return reductions.findLast((reduction) => reduction.epoch < epoch)?.rateFactor ?? 1;
}
