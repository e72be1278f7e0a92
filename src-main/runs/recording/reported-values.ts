import { improves, type MetricMode, resolveMode } from '../../../core/metrics/metric-mode.ts';
import type { EvaluatedSet, RunRecord, RunSummary } from '../../../core/protocol/run/record.ts';
import type { PointBatch } from '../../../core/protocol/wire/points.ts';
import type { RunFacts } from '../../../core/protocol/pages/run-updates.ts';
import type { KnownMetrics } from './lost-metrics.ts';
import { type MetricRows, withMetricRows } from '../../store/metrics/metric-rows.ts';
import type { ParsedRow } from '../../store/metrics/metrics-row.ts';

type Best = NonNullable<RunSummary['best']>;

/**
 * The last and the best values of a run's metrics on the disk. Its size depends on the number of metrics, not of rows.
 */
export class EarlierMetrics {
  /** The last value of each metric. */
  readonly lastValues = new Map<string, number>();
  readonly #best = { min: new Map<string, Best>(), max: new Map<string, Best>() };

  /**
   * @param onDamage called with the error of each damaged row, which is then left out
   * @param options what else the reading is for
   * @param options.bestAfterStep the best values are those of later steps
   * @param options.known takes the rows, too
   */
  static async read(
    folder: string,
    onDamage: (damage: Error) => void,
    { bestAfterStep = -Infinity, known = null }: { bestAfterStep?: number; known?: KnownMetrics | null } = {},
  ): Promise<EarlierMetrics> {
    const earlier = new EarlierMetrics();
    const take = async (rows: MetricRows): Promise<void> => {
      for await (const portion of rows) {
        for (const row of portion) {
          earlier.#take(row, rows.columns, row.step > bestAfterStep);
          known?.take(row, rows.columns);
        }
      }
    };
    await withMetricRows(folder, take, onDamage);
    return earlier;
  }

  /** The best finite value of a metric and its first position. */
  best(metric: string, mode: MetricMode): Best | null {
    return this.#best[mode].get(metric) ?? null;
  }

  #take({ epoch, step, cells }: ParsedRow, metrics: readonly string[], mayBeBest: boolean): void {
    for (const [column, value] of cells.entries()) {
      if (value === null) continue;
      const metric = metrics[column];
      this.lastValues.set(metric, value);
      if (!mayBeBest) continue;
      for (const mode of ['min', 'max'] as const) {
        const best = this.best(metric, mode)?.value ?? null;
        if (improves(value, best, mode)) this.#best[mode].set(metric, { metric, value, epoch, step });
      }
    }
  }
}

/**
 * What the ranks have reported so far, for the summary of a run: the last value of each metric, the best one, the
 * evaluated sets.
 */
export class ReportedValues {
  readonly #lastValues = new Map<string, number>();
  #best: RunSummary['best'] = null;
  #facts: RunFacts | null = null;
  /** What the best value is the best of; null until the ranks have said it. */
  #monitored: { metric: string; mode: MetricMode } | null = null;
  /** The metrics of earlier attempts. */
  #earlier: EarlierMetrics | null = null;
  #evaluatedSets: EvaluatedSet[] = [];
  #progress = { epochs: 0, steps: 0 };

  get best(): RunSummary['best'] {
    return this.#best;
  }

  /** What the ranks have said about themselves in this attempt. */
  get facts(): RunFacts | null {
    return this.#facts;
  }

  /** Forgets what the ranks of the last attempt said about themselves. */
  forgetFacts(): void {
    this.#facts = null;
    this.#monitored = null;
  }

  describe(facts: RunFacts, mode: RunRecord['config']['checkpoints']['mode']): void {
    this.#facts = facts;
    const metric = facts.ensembleMonitor;
    this.#monitored = { metric, mode: resolveMode(metric, mode, 'checkpoints.mode') };
    this.#adoptEarlierBest();
  }

  /**
   * Reads the metrics of earlier attempts, whose values count until they are reported again.
   * @param known takes the rows, too
   * @returns the errors of damaged rows, which are left out
   */
  async readEarlier(folder: string, origin: RunRecord['origin'], known: KnownMetrics | null): Promise<Error[]> {
    const damages: Error[] = [];
    // Weights alone bring no best checkpoint with them, so the fork's best is its own.
    const bestAfterStep = origin?.kind === 'checkpoint' ? origin.step : -Infinity;
    this.#earlier = await EarlierMetrics.read(folder, (damage) => damages.push(damage), { bestAfterStep, known });
    this.#lastValues.clear();
    for (const [name, value] of this.#earlier.lastValues) this.#lastValues.set(name, value);
    this.#adoptEarlierBest();
    return damages;
  }

  /** Takes points of a rank. @returns whether the best value of the ensemble has changed */
  take({ names, nameIndex, value, epoch, step }: PointBatch): boolean {
    names.forEach((name, index) => this.#lastValues.set(name, value[nameIndex.lastIndexOf(index)]));
    if (this.#monitored === null) return false;
    const { metric, mode } = this.#monitored;
    const wanted = names.indexOf(metric);
    const before = this.#best;
    nameIndex.forEach((name, i) => {
      if (name !== wanted || !improves(value[i], this.#best?.value ?? null, mode)) return;
      this.#best = { metric, value: value[i], epoch: epoch[i], step: step[i] };
    });
    return this.#best !== before;
  }

  evaluated(set: EvaluatedSet): void {
    this.#evaluatedSets = [...this.#evaluatedSets.filter((other) => other.set !== set.set), set];
  }

  /** @param epoch zero-based */
  reached(epoch: number, step: number): void {
    const { epochs, steps } = this.#progress;
    this.#progress = { epochs: Math.max(epochs, epoch + 1), steps: Math.max(steps, step) };
  }

  summary(attempt: number, stopReason: RunSummary['stopReason']): RunSummary {
    const metrics = Object.fromEntries([...this.#lastValues].sort(([a], [b]) => (a < b ? -1 : 1)));
    return {
      attempt,
      ...this.#progress,
      stopReason,
      metrics,
      best: this.#best,
      evaluatedSets: this.#evaluatedSets,
    };
  }

  #adoptEarlierBest(): void {
    if (this.#earlier === null || this.#monitored === null) return;
    this.#best = this.#earlier.best(this.#monitored.metric, this.#monitored.mode);
  }
}
