import { improves, type MetricMode, resolveMode } from '../../core/metrics/metric-mode.ts';
import type { RunSettings } from '../../core/protocol/run/settings.ts';
import {
  monitored,
  resolveMonitor,
  withoutImprovement,
  type Callback,
  type Evaluation,
  type Training,
} from './callback.ts';

/**
 * Ends training once the monitored metric has not improved by more than `minDelta` for `patience` evaluations.
 * Evaluations in which it is NaN do not count.
 *
 * Joint: all ranks end at the same evaluation, on a metric of the ensemble (Fredsgaard and Schmidt, 2025, "On joint
 * regularization and calibration in deep ensembles"). The group's first rank votes for all, because a changed patience
 * may reach the others later. Otherwise each rank ends separately and stands by for the others' evaluations.
 */
export class EarlyStopping implements Callback {
  readonly name = 'early-stopping';
  private readonly monitor: string;
  private readonly mode: MetricMode;
  private patience: number;
  private readonly minDelta: number;
  private readonly joint: boolean;
  private best: number | null = null;
  private waited = 0;

  /**
   * @param options - what to monitor, and when to stop
   * @param options.monitor - full name of the metric, in which `{rank}` stands for the rank
   * @param options.mode - whether smaller (`min`) or larger (`max`) values are better; `auto` (default) infers it from
   * the name
   * @param options.patience - evaluations without improvement before the end; 20 by default
   * @param options.minDelta - smallest change that counts as an improvement, in the metric's unit; 0 by default
   * @param options.joint - whether all ranks end together; true by default
   */
  constructor(options: {
    monitor: string;
    mode?: MetricMode | 'auto';
    patience?: number;
    minDelta?: number;
    joint?: boolean;
  }) {
    this.monitor = options.monitor;
    this.mode = resolveMode(options.monitor, options.mode ?? 'auto', 'earlyStopping.mode');
    this.patience = options.patience ?? 20;
    this.minDelta = options.minDelta ?? 0;
    this.joint = options.joint ?? true;
  }

  onSettings({ patience }: RunSettings): void {
    this.patience = patience;
  }

  async onEvaluation(training: Training, { metrics }: Evaluation): Promise<void> {
    if (training.isStandingBy && !this.joint) return;
    const score = monitored(metrics, this.monitor, training.rank);
    if (Number.isNaN(score)) return;
    if (improves(score, this.best, this.mode, this.minDelta)) {
      this.best = score;
      this.waited = 0;
      return;
    }
    this.waited += 1;
    if (this.waited < this.patience) return;
    if (this.joint && training.rank !== training.group.ranks[0]) return;
    const metric = resolveMonitor(this.monitor, training.rank);
    training.announce('early-stopping', withoutImprovement(metric, this.waited, this.best));
    if (this.joint) training.requestStop();
    else training.standBy();
  }

  state(): { best: number | null; waited: number; monitor: string } {
    return { best: this.best, waited: this.waited, monitor: this.monitor };
  }

  /** A resume may monitor another metric; the saved best value does not apply to it. */
  restore(state: unknown): void {
    const saved = state as { best: number | null; waited: number; monitor?: string };
    if ((saved.monitor ?? this.monitor) !== this.monitor) return;
    ({ best: this.best, waited: this.waited } = saved);
  }
}
