import type { NumericColumn } from '../tables/columns.ts';
import { columnOf, type Table } from '../tables/table.ts';

/** A series of T steps with C values each, for `windows` and `windowSplits`. */
export interface Series {
  readonly name: string;
  /** Shape `[T, C]`, row by row. */
  readonly values: Float32Array;
  /** C */
  readonly columns: number;
}

/**
 * The series that columns of numbers form, a row a step.
 * @throws TypeError if a column holds text, RangeError that names the row where a value is missing
 */
export function seriesOf(table: Table, names: readonly string[]): Series {
  const columns = names.map((name): NumericColumn => {
    const column = columnOf(table, name);
    if (column.type === 'number' || column.type === 'date' || column.type === 'boolean') return column;
    throw new TypeError(`Column "${name}" of ${table.name} holds text (${column.type}), but a series needs numbers.`);
  });
  for (const { name, values } of columns) {
    const missing = values.findIndex(Number.isNaN);
    if (missing < 0) continue;
    throw new RangeError(
      `Column "${name}" of ${table.name} has no value in row ${missing + 1}: fill the series first.`,
    );
  }
  const steps = columns[0]?.values.length ?? 0;
  const values = Float32Array.from({ length: steps * columns.length }, (_, i) => {
    return columns[i % columns.length].values[Math.floor(i / columns.length)];
  });
  return { name: table.name, values, columns: columns.length };
}
