import { improves, type MetricMode, resolveMode } from '../../core/metrics/metric-mode.ts';
import { epochName, monitored, resolveMonitor, type Callback, type Evaluation, type Training } from './callback.ts';

/** Saves every rank's weights at the end (`final`) and every `everyEpochs` epochs (`epoch-00009`). */
export class PerRankCheckpoint implements Callback {
  readonly name = 'per-rank-checkpoint';
  private readonly final: boolean;
  private readonly everyEpochs: number;

  /**
   * @param options - which checkpoints to save
   * @param options.final - whether to save the last weights; true by default
   * @param options.everyEpochs - epochs between checkpoints; 0 (default) for none
   */
  constructor(options: { final?: boolean; everyEpochs?: number } = {}) {
    this.final = options.final ?? true;
    this.everyEpochs = options.everyEpochs ?? 0;
  }

  async onEpochEnd(training: Training): Promise<void> {
    if (this.everyEpochs === 0 || (training.epoch + 1) % this.everyEpochs !== 0) return;
    await training.saveCheckpoint(epochName(training.epoch), null, null);
  }

  async onFitEnd(training: Training): Promise<void> {
    if (this.final) await training.saveCheckpoint('final', null, null);
  }
}

/**
 * Saves a rank's weights whenever a monitored metric improves. A metric of the ensemble saves every member at the
 * ensemble's optimum; `{rank}` in the monitor saves each member at its own optimum. Files are per rank, so they never
 * collide.
 */
export class PerRankBestCheckpoint implements Callback {
  readonly name: string;
  private readonly checkpointName: string;
  private readonly monitor: string;
  private readonly mode: MetricMode;
  private best: number | null = null;

  /**
   * @param options - what to monitor
   * @param options.monitor - full name of the metric, in which `{rank}` stands for the rank
   * @param options.mode - whether smaller (`min`) or larger (`max`) values are better; `auto` (default) infers it from
   * the name
   * @param options.name - name of the checkpoint
   */
  constructor(options: { monitor: string; mode?: MetricMode | 'auto'; name: string }) {
    this.name = `per-rank-best-checkpoint:${options.name}`;
    this.checkpointName = options.name;
    this.monitor = options.monitor;
    this.mode = resolveMode(options.monitor, options.mode ?? 'auto', 'checkpoints.mode');
  }

  async onEvaluation(training: Training, { metrics }: Evaluation): Promise<void> {
    const score = monitored(metrics, this.monitor, training.rank);
    if (!improves(score, this.best, this.mode)) return;
    this.best = score;
    await training.saveCheckpoint(this.checkpointName, resolveMonitor(this.monitor, training.rank), score);
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
