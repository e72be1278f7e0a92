import { z } from 'zod';
import { improves, type MetricMode, resolveMode } from '../../core/metrics/metric-mode.ts';
import type { ScheduleConfig } from '../../core/protocol/run/config.ts';
import { monitored, resolveMonitor, type Callback, type Evaluation, type Training } from './callback.ts';

type PlateauConfig = Extract<ScheduleConfig, { kind: 'plateau' }>;

const savedSchema = z.strictObject({
  monitor: z.string(),
  rateFactor: z.number(),
  best: z.number().nullable(),
  waited: z.int(),
  cooling: z.int(),
});

/**
 * Multiplies the learning rate by `factor`, down to `floorFraction` of the base rate, once the monitored metric has not improved by more than
 * `minDelta` in more than `patience` evaluations. The `cooldown` evaluations after a reduction do not count. As PyTorch's
 * `ReduceLROnPlateau` with an absolute threshold. On a metric of the ensemble all ranks decide alike.
 */
export class PlateauSchedule implements Callback {
  readonly name = 'plateau-schedule';
  readonly #config: Omit<PlateauConfig, 'kind' | 'warmupSteps'>;
  readonly #mode: MetricMode;
  #rateFactor = 1;
  #best: number | null = null;
  #waited = 0;
  #cooling = 0;

  /** @param config with the full name of the metric in `monitor`, not `auto` */
  constructor(config: Omit<PlateauConfig, 'kind' | 'warmupSteps'>) {
    this.#config = config;
    this.#mode = resolveMode(config.monitor, config.mode, 'schedule.mode');
  }

  get rateFactor(): number {
    return this.#rateFactor;
  }

  async onEvaluation(training: Training, { metrics }: Evaluation): Promise<void> {
    const { monitor, patience, minDelta, cooldown } = this.#config;
    const score = monitored(metrics, monitor, training.rank);
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
    const reduced = Math.max(this.#rateFactor * factor, floorFraction);
    if (reduced === this.#rateFactor) return;
    this.#rateFactor = reduced;
    const isOwn = monitor.includes('{rank}');
    if (!isOwn && training.rank !== training.group.ranks[0]) return;
    const metric = resolveMonitor(monitor, training.rank);
    training.announce(
      'learning-rate-reduced',
      `${metric}: no improvement in ${patience + 1} evaluations, best ${this.#best}. The learning rate is now ${reduced} of the base rate.`,
    );
  }

  state(): z.output<typeof savedSchema> {
    const { monitor } = this.#config;
    const [rateFactor, best, waited, cooling] = [this.#rateFactor, this.#best, this.#waited, this.#cooling];
    return { monitor, rateFactor, best, waited, cooling };
  }

  /** A resume may monitor another metric: the saved best value does not apply to it, but the reduction does. */
  restore(state: unknown): void {
    const { monitor, rateFactor, best, waited, cooling } = savedSchema.parse(state);
    this.#rateFactor = rateFactor;
    this.#cooling = cooling;
    if (monitor !== this.#config.monitor) return;
    this.#best = best;
    this.#waited = waited;
  }
}
