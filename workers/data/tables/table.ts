import { nearest } from '../../../core/options/suggest.ts';
import type { TableReading } from '../../../core/preprocessing/reading.ts';
import type { Column } from './columns.ts';

/** A table with typed columns. */
export interface Table {
  readonly name: string;
  /** Number of rows, N. */
  readonly length: number;
  readonly columns: readonly Column[];
  /** How its file was read; absent from a table that comes from no file. */
  readonly reading?: TableReading;
  /** Rows without any value that its file has besides; none by default. */
  readonly emptyRows?: number;
}

/** The table's column of that name, or of that index, counted from 0. @throws Error that lists the columns */
export function columnOf({ name: table, columns }: Table, wanted: string | number): Column {
  const column = typeof wanted === 'number' ? columns.at(wanted) : columns.find(({ name }) => name === wanted);
  if (column !== undefined) return column;
  throw noColumn(
    table,
    wanted,
    columns.map(({ name }) => name),
  );
}

/** The error for a column that a table lacks. */
export function noColumn(table: string, wanted: string | number, names: readonly string[]): Error {
  const [guess] = nearest(String(wanted), names);
  const remedy = guess === undefined ? `Choose one of ${names.slice(0, 30).join(', ')}.` : `Did you mean ${guess}?`;
  return new Error(`${table} has no column ${JSON.stringify(wanted)}. ${remedy}`);
}
