import type { NamedTensor } from '../../core/safetensors/safetensors.ts';

/** One metric over time: `values[i]` was measured at `epochs[i]` and `steps[i]`. */
export interface Series {
  epochs: number[];
  steps: number[];
  values: number[];
}

/** Metrics of the evaluations so far, by name, for figures and for a resume. */
export class History {
  private readonly bySeries = new Map<string, Series>();

  get series(): ReadonlyMap<string, Series> {
    return this.bySeries;
  }

  record(metrics: ReadonlyMap<string, number>, epoch: number, step: number): void {
    for (const [name, value] of metrics) {
      const series = this.bySeries.get(name) ?? { epochs: [], steps: [], values: [] };
      series.epochs.push(epoch);
      series.steps.push(step);
      series.values.push(value);
      this.bySeries.set(name, series);
    }
  }

  /** Takes the metrics of another member's history, but keeps those that begin so. */
  adopt(other: History, ownPrefixes: readonly string[]): void {
    for (const [name, series] of other.bySeries) {
      if (!ownPrefixes.some((prefix) => name.startsWith(prefix))) this.bySeries.set(name, series);
    }
  }

  /** Number of evaluations with each metric. */
  get counts(): Map<string, number> {
    return new Map([...this.bySeries].map(([name, { values }]) => [name, values.length]));
  }

  /** One tensor `[3, E]` per metric with its first E evaluations: epochs, steps, values. NaN survives. */
  toTensors(counts: ReadonlyMap<string, number> = this.counts): NamedTensor[] {
    return [...counts].map(([name, count]) => {
      const { epochs, steps, values } = this.bySeries.get(name) ?? { epochs: [], steps: [], values: [] };
      const rows = [epochs, steps, values].flatMap((row) => row.slice(0, count));
      return { name: `history/${name}`, dtype: 'F64', shape: [3, count], data: Float64Array.from(rows) };
    });
  }

  static fromTensors(tensors: readonly NamedTensor[]): History {
    const history = new History();
    for (const { name, data } of tensors) {
      if (!name.startsWith('history/')) continue;
      const count = data.length / 3;
      const row = (i: number) => Array.from(data as Float64Array).slice(i * count, (i + 1) * count);
      history.bySeries.set(name.slice('history/'.length), { epochs: row(0), steps: row(1), values: row(2) });
    }
    return history;
  }
}
