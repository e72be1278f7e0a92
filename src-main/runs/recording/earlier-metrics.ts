import { improves, type MetricMode } from '../../../core/metrics/metric-mode.ts';
import type { RunSummary } from '../../../core/protocol/run/record.ts';
import { type MetricRows, withMetricRows } from '../../store/metrics/metric-rows.ts';
import type { KnownMetrics } from './lost-metrics.ts';
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
