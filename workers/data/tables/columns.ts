import { type Cell, isDecimal, type RawTable } from './cells.ts';
import { parseDate } from './dates.ts';

/**
 * Types of a table's columns. A date counts as days since 1970-01-01 UTC, a boolean as 0 or 1. A category has few distinct values,
 * a text many.
 */
export type ColumnType = 'number' | 'category' | 'text' | 'date' | 'boolean';

/** A column of numbers, dates or booleans. */
export interface NumericColumn {
  readonly name: string;
  readonly type: 'number' | 'date' | 'boolean';
  /** NaN where a value is missing; shape `[N]`. */
  readonly values: Float64Array;
}

/** A column of categories or texts. */
export interface TextColumn {
  readonly name: string;
  readonly type: 'category' | 'text';
  /** Null where a value is missing; shape `[N]`. */
  readonly values: readonly (string | null)[];
}

/** A column of a table. */
export type Column = NumericColumn | TextColumn;

/** A column of strings with more distinct values than this is text unless the user says that it is a category. */
const mostGuessedCategories = 100;

/**
 * Gives a column its type.
 * @param type the type that the user gave; otherwise it follows from the values that are present: all numbers, all `true` and
 * `false`, all ISO dates, else categories up to 100 distinct values, else text
 * @throws Error that names place, column and value of the first cell that does not fit
 */
export function typedColumn(table: RawTable, index: number, type?: ColumnType): Column {
  const { name, cells } = table.columns[index];
  const chosen = type ?? guessType(table, index);
  if (chosen === 'category' || chosen === 'text') return { name, type: chosen, values: cells.map(textOf) };
  const values = Float64Array.from(cells, (cell, row) => {
    if (cell === null) return Number.NaN;
    const value = readers[chosen](cell);
    if (value === null) throw wrongCell(table, index, row, chosen);
    return value;
  });
  return { name, type: chosen, values };
}

function guessType(table: RawTable, index: number): ColumnType {
  const present = table.columns[index].cells.filter((cell) => cell !== null);
  const kinds = ['number', 'boolean', 'date'] as const;
  const all = kinds.find((kind) => present.every((cell) => readers[kind](cell) !== null));
  if (all !== undefined) return all;
  refuseMostlyNumbers(table, index, present);
  return new Set(present.map(textOf)).size <= mostGuessedCategories ? 'category' : 'text';
}

/** A misspelt number must not turn a column of numbers into categories. */
function refuseMostlyNumbers(table: RawTable, index: number, present: readonly Cell[]): void {
  const numbers = present.filter((cell) => readNumber(cell) !== null).length;
  if (2 * numbers < present.length || numbers === 0) return;
  const row = table.columns[index].cells.findIndex((cell) => cell !== null && readNumber(cell) === null);
  throw wrongCell(table, index, row, 'number');
}

function wrongCell(table: RawTable, index: number, row: number, type: keyof typeof readers): Error {
  const { name, cells } = table.columns[index];
  return new Error(
    `${table.placeOf(row)}, column ${index + 1}${table.hasNames ? ` (${name})` : ''}: ${JSON.stringify(cells[row], bigIntText)} is not ` +
      `${rules[type]}. Correct it, or name its text in missingValues, or give the column another type.`,
  );
}

const rules = {
  number: 'a number (finite, with a decimal point, within float32)',
  date: 'a date (2026-01-31, or with a time: 2026-01-31T12:00:00Z)',
  boolean: 'true or false',
};

const readers = { number: readNumber, date: readDate, boolean: readBoolean };

function readNumber(cell: Cell): number | null {
  if (typeof cell === 'string') return isDecimal(cell) ? Number(cell) : null;
  if (typeof cell !== 'number' && typeof cell !== 'bigint') return null;
  return Number.isFinite(Math.fround(Number(cell))) ? Number(cell) : null;
}

function readDate(cell: Cell): number | null {
  const time = cell instanceof Date ? cell.getTime() : typeof cell === 'string' ? parseDate(cell) : Number.NaN;
  return Number.isNaN(time) ? null : time / 86_400_000;
}

function readBoolean(cell: Cell): number | null {
  if (typeof cell === 'boolean') return Number(cell);
  const text = typeof cell === 'string' ? cell.toLowerCase() : '';
  return text === 'true' ? 1 : text === 'false' ? 0 : null;
}

function textOf(cell: Cell): string | null {
  return cell instanceof Date ? cell.toISOString() : cell === null ? null : String(cell);
}

function bigIntText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

/** Whether a column has no value in a row. */
export function isMissingAt(column: Column, row: number): boolean {
  return column.values instanceof Float64Array ? Number.isNaN(column.values[row]) : column.values[row] === null;
}
