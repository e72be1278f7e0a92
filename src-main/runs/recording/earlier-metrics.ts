import { improves, type MetricMode } from '../../../core/metrics/metric-mode.ts';
import type { RunSummary } from '../../../core/protocol/run/record.ts';
import { withMetricRows } from '../../store/metrics/metric-rows.ts';

type Best = NonNullable<RunSummary['best']>;

/** The last and the best values of a run's metrics on the disk. Its size depends on the number of metrics, not of rows. */
export class EarlierMetrics {
  /** The last value of each metric. */
  readonly lastValues = new Map<string, number>();
  readonly #best = { min: new Map<string, Best>(), max: new Map<string, Best>() };

  static async read(folder: string): Promise<EarlierMetrics> {
    const earlier = new EarlierMetrics();
    await withMetricRows(folder, async (rows) => {
      for await (const { epoch, step, cells } of rows) {
        for (const [column, value] of cells.entries()) {
          if (value !== null) earlier.#take({ metric: rows.columns[column], value, epoch, step });
        }
      }
    });
    return earlier;
  }

  /** The best finite value of a metric and its first position. */
  best(metric: string, mode: MetricMode): Best | null {
    return this.#best[mode].get(metric) ?? null;
  }

  #take(point: Best): void {
    const { metric, value } = point;
    this.lastValues.set(metric, value);
    for (const mode of ['min', 'max'] as const) {
      if (improves(value, this.best(metric, mode)?.value ?? null, mode)) this.#best[mode].set(metric, point);
    }
  }
}
