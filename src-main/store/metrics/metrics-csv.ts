/**
 * The format of `metrics.csv`: a header `epoch,step,<metric>,...`, then one row per (epoch, step). An empty cell is an
 * absent value. Numbers are in the shortest form that parses to the same value, with `NaN`, `Infinity` and `-Infinity`.
 * Nothing is quoted, so a row can be split at its commas.
 */

/** Where a row is: the key of the file. */
export interface Position {
  epoch: number;
  step: number;
}

/** Compares by (epoch, step): negative if `a` comes before `b`. */
export function comparePositions(a: Position, b: Position): number {
  return a.epoch - b.epoch || a.step - b.step;
}

const KEY_COLUMNS = ['epoch', 'step'];

/** @throws Error if a metric's name cannot be the header of a column */
export function checkMetricName(name: string): void {
  if (name !== '' && !/[,"\r\n]/.test(name) && !KEY_COLUMNS.includes(name)) return;
  throw new Error(
    `${JSON.stringify(name)} cannot name a metric: names head the columns of metrics.csv, so they hold no comma, ` +
      'quote or line break, and are neither empty nor "epoch" nor "step". Rename the metric in the project.',
  );
}

/** `metrics` in the order of their columns. */
export function formatHeader(metrics: Iterable<string>): string {
  return `${[...KEY_COLUMNS, ...metrics].join(',')}\n`;
}

/** @returns the metrics, in the order of their columns @throws Error when this is not the header of a `metrics.csv` */
export function parseHeader(line: string, path: string): string[] {
  const [epoch, step, ...metrics] = line.split(',');
  if (epoch === 'epoch' && step === 'step') return metrics;
  throw new Error(
    `${path} begins with "${line.slice(0, 80)}", but the header of a metrics file begins with "epoch,step". ` +
      'Move the file away, or restore it from a copy.',
  );
}

/** @param start the first bytes of the file, or all of them @throws Error when these begin no `metrics.csv` */
export function checkStart(start: string): void {
  const begin = formatHeader([]).trimEnd();
  if (start.startsWith(`${begin},`) || start.startsWith(`${begin}\n`) || `${begin}\n`.startsWith(start)) return;
  throw new Error(
    `metrics.csv begins with ${JSON.stringify(start.slice(0, 40))}, but its header begins with "${begin}".`,
  );
}

/** @param cells one per metric, '' where a value is absent */
export function formatRow(epoch: number, step: number, cells: readonly string[]): string {
  return `${[epoch, step, ...cells].join(',')}\n`;
}

/** Formats a number exactly, including the sign of -0, which `String` drops. */
export function formatNumber(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/** @returns null for a cell without a number */
export function parseNumber(cell: string): number | null {
  if (cell === 'NaN') return Number.NaN;
  const value = Number(cell);
  return cell === '' || Number.isNaN(value) ? null : value;
}
