import { improves, type MetricMode } from '../../core/metrics/metric-mode.ts';
import { epochName, monitored, type Callback, type Evaluation, type Training } from './callback.ts';

interface Scored {
  epoch: number;
  score: number;
}

/**
 * Saves every rank's weights at an evaluation that is among the best ones so far, as `top-<epoch>`. All ranks see the
 * same metric of the ensemble, so they save the same evaluations. The checkpoint that is no longer among the best is
 * removed by the retention.
 */
export class TopCheckpoints implements Callback {
  readonly name = 'top-checkpoints';
  private readonly monitor: string;
  private readonly mode: MetricMode;
  private readonly count: number;
  /** The best first. */
  private best: Scored[] = [];

  /**
   * @param options - the metric of the ensemble, whether smaller or larger values are better, and how many evaluations
   * to keep
   */
  constructor({ monitor, mode, count }: { monitor: string; mode: MetricMode; count: number }) {
    this.monitor = monitor;
    this.mode = mode;
    this.count = count;
  }

  async onEvaluation(training: Training, { metrics, epoch }: Evaluation): Promise<void> {
    const score = monitored(metrics, this.monitor, training.rank);
    // A stop and its resume may evaluate an epoch twice.
    const others = this.best.filter((one) => one.epoch !== epoch);
    const replaced = this.best.find((one) => one.epoch === epoch);
    const worst = replaced ?? (others.length < this.count ? null : others[this.count - 1]);
    if (!improves(score, worst?.score ?? null, this.mode)) return;
    const isBefore = (one: Scored): boolean => !improves(score, one.score, this.mode);
    const place = others.filter(isBefore).length;
    this.best = others.toSpliced(place, 0, { epoch, score }).slice(0, this.count);
    await training.saveCheckpoint(epochName(epoch, 'top'), this.monitor, score);
  }

  state(): { best: Scored[]; monitor: string } {
    return { best: this.best, monitor: this.monitor };
  }

  /** A resume may monitor another metric; the saved values do not apply to it. */
  restore(state: unknown): void {
    const { best, monitor } = state as { best: Scored[]; monitor: string };
    if (monitor === this.monitor) this.best = best;
  }
}
