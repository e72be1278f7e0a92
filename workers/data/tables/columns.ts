import type { ProfiledColumn } from '../../../core/preprocessing/profile.ts';
import { caselessText, type DateFormat, isClock, type NumberFormat } from '../../../core/preprocessing/reading.ts';
import { type Cell, type Cells, isDecimal, type RawTable } from './cells.ts';
import { parseDate } from './reading/dates.ts';
import { parseNumber } from './reading/numbers.ts';

/**
 * Types of a table's columns. A date counts as days since 1970-01-01 UTC, a boolean as 0 or 1. A category has few
 * distinct values, a text many.
 */
export type ColumnType = 'number' | 'category' | 'text' | 'date' | 'boolean';

/** How the text of a column's cells is written. */
export interface ColumnFormat {
  /** Null: plain numbers with a decimal point. */
  readonly numberFormat: NumberFormat | null;
  /** Null: ISO 8601. */
  readonly dateFormat: DateFormat | null;
  /** Whether categories that differ only in the case of letters, or in how accents are composed, are one. */
  readonly ignoresCase?: boolean | undefined;
}

export const plainFormat: ColumnFormat = { numberFormat: null, dateFormat: null };

/** A column of a table. */
interface AnyColumn {
  readonly name: string;
  /** Of a table to predict: that the table lacks the column, in words. All values are missing. */
  readonly absence?: string;
}

/** A column of numbers, dates or booleans. */
export interface NumericColumn extends AnyColumn {
  readonly type: 'number' | 'date' | 'boolean';
  /** NaN where a value is missing; shape `[N]`. */
  readonly values: Float64Array;
  /** Of a table to predict: cells that are not of the column's type, by row. Their values are missing. */
  readonly mistyped?: ReadonlyMap<number, Cell>;
}

/** A column of categories or texts. */
export interface TextColumn extends AnyColumn {
  readonly type: 'category' | 'text';
  /** Null where a value is missing; shape `[N]`. */
  readonly values: readonly (string | null)[];
}

/** A column of a table. */
export type Column = NumericColumn | TextColumn;

/** The values of any column, also of one that is only inspected. */
export type ColumnValues = Pick<ProfiledColumn, 'name' | 'type' | 'values'>;

/**
 * A column with values of its type.
 * @param isImputed whether cells that do not fit are kept, and their values count as missing
 * @throws Error that names place, column and value of the first cell that does not fit
 */
export function typedColumn(
  table: RawTable,
  index: number,
  type: ColumnType,
  format = plainFormat,
  isImputed = false,
): Column {
  const { name, cells } = table.columns[index];
  if (type === 'text') return { name, type, values: cells.map(textOf, null) };
  if (type === 'category') return { name, type, values: cells.map((cell) => categoryText(textOf(cell), format), null) };
  const read = (cell: Cell, row: number): number => {
    const value = readCell(cell, type, format);
    if (value === null && !isImputed) throw wrongCell(table, { index, row }, type, format);
    return value ?? Number.NaN;
  };
  const values = Float64Array.from(cells.map(read, Number.NaN));
  return { name, type, values, ...(isImputed && { mistyped: presentCells(cells, values) }) };
}

/** The cells of a column whose values are missing although they hold something, by row. */
function presentCells(cells: Cells, values: Float64Array): Map<number, Cell> {
  const found = new Map<number, Cell>();
  values.forEach((value, row) => {
    if (Number.isNaN(value) && !cells.isMissingAt(row)) found.set(row, cells.at(row));
  });
  return found;
}

/** The value of a cell in a column of numbers, dates or booleans; null where it is none. */
export function readCell(cell: Cell, type: NumericColumn['type'], format: ColumnFormat): number | null {
  if (type === 'boolean') return readBoolean(cell);
  return type === 'date' ? readDate(cell, format.dateFormat) : readNumber(cell, format.numberFormat);
}

/** The error for a cell that is not of its column's type. */
export function wrongCell(
  table: RawTable,
  { index, row }: { index: number; row: number },
  type: NumericColumn['type'],
  format: ColumnFormat,
): Error {
  return new Error(`${whyWrong(table, { index, row }, type, format)} ${wrongRemedy}`);
}

/** What a user can do about a cell that is not of its column's type. */
export const wrongRemedy = 'Correct it, or name its text in missingValues, or give the column another type.';

/** Which cell is not of its column's type. */
export function whyWrong(
  table: RawTable,
  { index, row }: { index: number; row: number },
  type: NumericColumn['type'],
  format: ColumnFormat,
): string {
  const cell = table.columns[index].cells.at(row);
  return `${placeOfColumn(table, index, row)}: ${JSON.stringify(cell, bigIntText)} is not ${ruleOf(type, format)}.`;
}

/** `houses.csv, line 3, column 2 (size)` */
export function placeOfColumn(table: RawTable, index: number, row: number): string {
  const position = table.lettersOf?.(index) ?? index + 1;
  return `${table.placeOf(row)}, column ${position}${table.hasNames ? ` (${table.columns[index].name})` : ''}`;
}

function ruleOf(type: NumericColumn['type'], { numberFormat, dateFormat }: ColumnFormat): string {
  if (type === 'boolean') return 'true or false';
  if (type === 'date') return `a date (${dateFormat ?? '2026-01-31'}, or with a time: 2026-01-31T12:00:00Z)`;
  if (isClock(numberFormat)) return 'a time of day (14:00, 14:00:30 or 2:00 PM)';
  const { decimal, unit } = numberFormat ?? { decimal: '.', unit: '' };
  return (
    'a number (finite, with a decimal ' +
    `${decimal === '.' ? 'point' : 'comma'}${unit === '' ? '' : ` and ${unit}`}, within float32)`
  );
}

function readNumber(cell: Cell, format: NumberFormat | null): number | null {
  if (typeof cell === 'string') return format === null && isDecimal(cell) ? Number(cell) : parseNumber(cell, format);
  if (typeof cell !== 'number' && typeof cell !== 'bigint') return null;
  return Number.isFinite(Math.fround(Number(cell))) ? Number(cell) : null;
}

function readDate(cell: Cell, format: DateFormat | null): number | null {
  const isText = typeof cell === 'string' || (format === 'YYYYMMDD' && cell !== null);
  const time = cell instanceof Date ? cell.getTime() : isText ? parseDate(String(cell), format) : Number.NaN;
  return Number.isNaN(time) ? null : time / 86_400_000;
}

function readBoolean(cell: Cell): number | null {
  if (typeof cell === 'boolean') return Number(cell);
  const text = typeof cell === 'string' ? cell.toLowerCase() : '';
  return text === 'true' ? 1 : text === 'false' ? 0 : null;
}

function textOf(cell: Exclude<Cell, null>): string {
  return cell instanceof Date ? cell.toISOString() : String(cell);
}

/**
 * A category in the form in which it is compared: other programs write the code 1 as 1.0 once a column has missing
 * values, and `true` as `True` or `TRUE`. Codes such as 01 stay as they are.
 */
export function categoryText(text: string, { ignoresCase = false }: Pick<ColumnFormat, 'ignoresCase'> = {}): string {
  if (/^-?(?:0|[1-9]\d*)\.0+$/.test(text)) return text.slice(0, text.indexOf('.'));
  if (ignoresCase) return caselessText(text);
  return /^(?:true|false)$/i.test(text) ? text.toLowerCase() : text;
}

function bigIntText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

/** Whether a column has no value in a row. */
export function isMissingAt(column: Pick<ColumnValues, 'values'>, row: number): boolean {
  return column.values instanceof Float64Array ? Number.isNaN(column.values[row]) : column.values[row] === null;
}

/** A value as the name of a class, or of a file. */
export function textAt({ type, values }: Pick<ColumnValues, 'type' | 'values'>, row: number): string {
  return type === 'boolean' ? String(values[row] === 1) : String(values[row]);
}
