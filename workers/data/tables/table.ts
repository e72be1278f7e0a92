import { nearest } from '../../../core/options/suggest.ts';
import type { TableReading } from '../../../core/preprocessing/reading.ts';
import type { RawTable } from './cells.ts';
import { type Column, type ColumnFormat, type ColumnType, plainFormat, typedColumn } from './columns.ts';

/** A table with typed columns. */
export interface Table {
  readonly name: string;
  /** Number of rows, N. */
  readonly length: number;
  readonly columns: readonly Column[];
  /** How its file was read; absent from a table that comes from no file. */
  readonly reading?: TableReading;
  /** Of a block of a file: rows without any value that it has besides, which were left out; none by default. */
  readonly emptyRows?: number;
  /**
   * Of a block of a file: the number of each row in it, from 0, below the names. Rows that were left out count; blank
   * lines and comments do not. Shape `[N]`.
   */
  readonly rowNumbers?: Float64Array;
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

/** How to read a column of a table to predict. */
export interface ColumnToPredict extends ColumnFormat {
  type: ColumnType;
  /**
   * Whether training put a value for missing ones. A column that is absent, and cells of another type, then count as
   * missing.
   */
  isImputed: boolean;
}

/**
 * Columns of these types by name, written as in the training table.
 * @param imputed those with a value for missing ones
 */
export function columnsLike({
  types,
  imputed,
  reading,
}: {
  types: Readonly<Record<string, ColumnType>>;
  imputed: ReadonlySet<string>;
  reading: TableReading | null;
}): Map<string, ColumnToPredict> {
  return new Map(
    Object.entries(types).map(([name, type]) => {
      const known = reading?.columns.find((column) => column.name === name && column.type === type) ?? plainFormat;
      const { numberFormat, dateFormat, ignoresCase } = known;
      return [name, { type, numberFormat, dateFormat, ignoresCase, isImputed: imputed.has(name) }];
    }),
  );
}

/**
 * The wanted columns of a table to predict, by name.
 * @param nameOf a column's name in the table
 * @throws Error that names a column or a cell that is absent or of another type and cannot count as missing, or where
 * the table has none of the columns
 */
export function columnsToPredict(
  raw: RawTable,
  wanted: ReadonlyMap<string, ColumnToPredict>,
  nameOf = (name: string) => name,
): Column[] {
  const names = raw.columns.map(({ name }) => name);
  const isOther = ![...wanted.keys()].some((name) => names.includes(nameOf(name)));
  return [...wanted].map(([name, { type, isImputed, ...format }]): Column => {
    const index = names.indexOf(nameOf(name));
    if (index >= 0) return { ...typedColumn(raw, index, type, format, isImputed), name };
    if (!isImputed || isOther) throw noColumn(raw.source, name, names);
    return absentColumn({ name, type, length: raw.length, names });
  });
}

function absentColumn(about: { name: string; type: ColumnType; length: number; names: readonly string[] }): Column {
  const { name, type, length } = about;
  const [guess] = nearest(name, about.names);
  const other = guess === undefined ? '' : ` (there is ${JSON.stringify(guess)})`;
  const absence = `Column ${JSON.stringify(name)} is absent${other}`;
  if (type === 'category' || type === 'text') {
    return { name, type, absence, values: Array.from({ length }, () => null) };
  }
  return { name, type, absence, values: new Float64Array(length).fill(Number.NaN) };
}
