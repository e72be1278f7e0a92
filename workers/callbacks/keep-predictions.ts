import { improves, type MetricMode, resolveMode } from '../../core/metrics/metric-mode.ts';
import type { Predictions } from '../member/predictions.ts';
import { epochName, monitored, type Callback, type Evaluation, type Training } from './callback.ts';

/**
 * Saves a rank's validation predictions: those of the best evaluation by the ensemble's metric (`best`), or of every
 * evaluation (`epoch-00012`, and the final ones as `last`). Plots of the ensemble over time and later waves read them.
 */
export class KeepPredictions implements Callback {
  readonly name = 'keep-predictions';
  private readonly which: 'best' | 'all';
  private readonly monitor: string;
  private readonly mode: MetricMode;
  private best: number | null = null;
  private last: Predictions | null = null;

  /**
   * @param options - which predictions to save
   * @param options.which - those of the best evaluation, or of all
   * @param options.monitor - full name of the metric that decides which evaluation is best
   * @param options.mode - whether smaller (`min`) or larger (`max`) values are better; `auto` (default) infers it from
   * the name
   */
  constructor(options: { which: 'best' | 'all'; monitor: string; mode?: MetricMode | 'auto' }) {
    this.which = options.which;
    this.monitor = options.monitor;
    this.mode = resolveMode(options.monitor, options.mode ?? 'auto', 'checkpoints.mode');
  }

  async onEvaluation(training: Training, { metrics, predictions, epoch }: Evaluation): Promise<void> {
    this.last = predictions;
    if (this.which === 'all') return training.savePredictions(epochName(epoch), predictions);
    const score = monitored(metrics, this.monitor, training.rank);
    if (!improves(score, this.best, this.mode)) return;
    this.best = score;
    await training.savePredictions('best', predictions);
  }

  async onFitEnd(training: Training): Promise<void> {
    if (this.which === 'all' && this.last !== null) await training.savePredictions('last', this.last);
  }

  state(): { best: number | null; monitor: string } {
    return { best: this.best, monitor: this.monitor };
  }

  /** A resume may monitor another metric; the saved best value does not apply to it. */
  restore(state: unknown): void {
    const { best, monitor = this.monitor } = state as { best: number | null; monitor?: string };
    if (monitor === this.monitor) this.best = best;
  }
}
