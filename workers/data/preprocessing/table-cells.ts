import type { ShownField } from '../../../core/ensemble/sample-inputs.ts';
import type { ColumnStep, TableStep } from '../../../core/preprocessing/schema.ts';
import type { Column } from '../tables/columns.ts';
import type { Table } from '../tables/table.ts';
import { widthOf } from './table-features.ts';

const msPerDay = 86_400_000;
/** Standardized float32 values hold some seven digits. */
const keptDigits = 6;

/** Number of features that a table's columns become. */
export function tableWidth({ columns }: TableStep): number {
  return columns.reduce((sum, step) => sum + widthOf(step), 0);
}

/**
 * The cells of a row from its features: the inverse of `tableFeatures`. A value that was imputed without an indicator
 * shows as imputed.
 */
export function tableCells({ columns }: TableStep, features: ArrayLike<number>): ShownField[] {
  let at = 0;
  return columns.map((step) => {
    const own = Array.from({ length: widthOf(step) }, (_, i) => features[at + i]);
    at += own.length;
    const isMissing = step.impute?.indicator === true && own.at(-1) === 1;
    return { name: step.name, value: isMissing ? null : cellOf(step, own) };
  });
}

function cellOf(step: ColumnStep, own: readonly number[]): string | number {
  if (step.type === 'category') {
    const category = own.slice(0, step.categories.length).indexOf(1);
    return step.categories[category] ?? 'a value that training lacks';
  }
  const value = Number((step.mean + step.std * own[0]).toPrecision(keptDigits));
  if (step.type === 'boolean') return value === 1 ? 'true' : 'false';
  return step.type === 'date' ? dateOf(step.mean + step.std * own[0]) : value;
}

/** The cells of some rows of a table, as a person reads them. */
export function rowsOfTable({ columns, length }: Table, rows: number): ShownField[][] {
  return Array.from({ length: Math.min(rows, length) }, (_, row) =>
    columns.map((column) => ({ name: column.name, value: valueAt(column, row) })),
  );
}

/** A cell of a table, as a person reads it. */
export function valueAt({ type, values }: Column, row: number): string | number | null {
  const value = values[row];
  if (value === null || typeof value === 'string') return value;
  if (Number.isNaN(value)) return null;
  if (type === 'boolean') return value === 1 ? 'true' : 'false';
  return type === 'date' ? dateOf(value) : value;
}

/** Days since 1970-01-01 UTC as a date, to the minute. */
function dateOf(days: number): string {
  const minutes = Math.round(days * 1440);
  const time = new Date((minutes / 1440) * msPerDay);
  if (Number.isNaN(time.getTime())) return 'no date';
  const text = time.toISOString();
  return minutes % 1440 === 0 ? text.slice(0, 10) : text.slice(0, 16).replace('T', ' ');
}
