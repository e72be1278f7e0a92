import type { ParsedRow } from '../../src-main/store/metrics/metrics-row.ts';
import { withMetricRows } from '../../src-main/store/metrics/metric-rows.ts';

/** The metrics of a run in memory: R rows, one per (epoch, step), in ascending order. */
export interface MetricTable {
  /** Metrics, in the order of their columns in the file (without `epoch` and `step`). */
  columns: string[];
  /** shape [R]. */
  epoch: Int32Array;
  /** shape [R]. */
  step: Int32Array;
  /** By metric, shape [R]. NaN for an absent value; `present` distinguishes it from a value that is NaN. */
  values: Map<string, Float64Array>;
  /** By metric, shape [R]: 1 if the row has a value, else 0. */
  present: Map<string, Uint8Array>;
}

/** Reads `metrics.csv` as a whole. */
export async function readMetrics(folder: string): Promise<MetricTable> {
  return withMetricRows(folder, async (metrics) => {
    const rows: ParsedRow[] = [];
    for await (const portion of metrics) rows.push(...portion);
    const cellsOf = (column: number) => rows.map(({ cells }) => cells[column]);
    return {
      columns: [...metrics.columns],
      epoch: Int32Array.from(rows, ({ epoch }) => epoch),
      step: Int32Array.from(rows, ({ step }) => step),
      values: new Map(metrics.columns.map((name, i) => [name, Float64Array.from(cellsOf(i), (cell) => cell ?? NaN)])),
      present: new Map(
        metrics.columns.map((name, i) => [name, Uint8Array.from(cellsOf(i), (cell) => (cell === null ? 0 : 1))]),
      ),
    };
  });
}
