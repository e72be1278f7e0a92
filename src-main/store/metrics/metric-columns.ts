import { MetricColumn } from './metric-column.ts';

/** The metrics of one run, in the order in which they first came. */
export class MetricColumns {
  readonly #columns = new Map<string, MetricColumn>();

  get names(): string[] {
    return [...this.#columns.keys()];
  }

  get(name: string): MetricColumn | undefined {
    return this.#columns.get(name);
  }

  set(name: string, epoch: number, step: number, value: number): void {
    let column = this.#columns.get(name);
    if (column === undefined) this.#columns.set(name, (column = new MetricColumn()));
    column.set(epoch, step, value);
  }

  /** Takes a column as it is, in place of what was there of the metric. */
  put(name: string, column: MetricColumn): void {
    this.#columns.set(name, column);
  }

  clear(): void {
    this.#columns.clear();
  }
}
