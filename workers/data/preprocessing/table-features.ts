import { orderClasses } from '../../../core/preprocessing/reading.ts';
import type { ColumnStep, TableStep, TextColumnStep } from '../../../core/preprocessing/schema.ts';
import { columnMoments } from '../column-moments.ts';
import type { CategoryFeatures } from '../dataset.ts';
import { type Column, isMissingAt, type NumericColumn, type TextColumn } from '../tables/columns.ts';
import { columnOf, type Table } from '../tables/table.ts';
import { missingAt } from './missing.ts';

/** How a table's columns become features, fitted on some of its rows. */
interface FitOptions {
  /** Name of the table, for messages. */
  name: string;
  /** Rows of the training split. */
  rows: Int32Array;
  /** Whether columns of numbers and dates get mean 0 and standard deviation 1. */
  standardize: boolean;
  /** Whether a column's missing values may be imputed; a training split without any needs no indicator. */
  imputes: (column: string) => boolean;
}

/**
 * Fits one column. Missing numbers and dates are imputed by the median, categories and booleans by the most frequent
 * value (the first in order if several are), then numbers are standardized, as by scikit-learn's `SimpleImputer` and
 * `StandardScaler`.
 * @throws Error for a column of text, and for one without any value in the training split: see {@link whyUnfit}
 */
export function fitColumn(column: Column, options: FitOptions): ColumnStep {
  const problem = whyUnfit(column, options);
  if (problem !== null) throw new Error(problem);
  return column.values instanceof Float64Array
    ? fitNumbers(column as NumericColumn, options)
    : fitCategories(column as TextColumn, options);
}

/** Why a column cannot become features, with the remedy; null where it can. @param rows of the training split */
export function whyUnfit(column: Column, { name: table, rows }: Pick<FitOptions, 'name' | 'rows'>): string | null {
  const name = JSON.stringify(column.name);
  if (rows.every((row) => isMissingAt(column, row))) {
    return (
      `Column ${name} of ${table} has no value in the training split. Give it the type ignore, or correct the ` +
      'table.'
    );
  }
  if (column.type !== 'text') return null;
  return (
    `Column ${name} of ${table} is text, of which a model has no features. Say how it becomes tokens, text: { ` +
    `${name}: { length: 64 } }, or give it the type ignore or category: readTable(file, { columns: { ${name}: ` +
    "'ignore' } })."
  );
}

function fitCategories({ name, values }: TextColumn, { rows, imputes }: FitOptions): ColumnStep {
  const present = Array.from(rows, (row) => values[row]).filter((value) => value !== null);
  const categories = orderClasses(present);
  const counts = Map.groupBy(present, (value) => value);
  const largest = Math.max(...categories.map((category) => counts.get(category)?.length ?? 0));
  const most = categories.find((category) => counts.get(category)?.length === largest) ?? categories[0];
  const impute = imputes(name) ? { value: most, indicator: present.length < rows.length } : null;
  return { name, type: 'category', impute, categories };
}

function fitNumbers({ name, type, values }: NumericColumn, options: FitOptions): ColumnStep {
  const { name: table, rows, imputes } = options;
  const own = Float64Array.from(rows, (row) => values[row]);
  const present = own.filter((value) => !Number.isNaN(value)).sort();
  const value = type === 'boolean' ? mostFrequentBit(present) : medianOf(present);
  const impute = imputes(name) ? { value, indicator: present.length < own.length } : null;
  const range = { smallest: present[0], largest: present[present.length - 1] };
  if (type === 'boolean' || !options.standardize) return { name, type, impute, mean: 0, std: 1, ...range };
  const complete = own.map((found) => (Number.isNaN(found) && impute ? value : found));
  const { mean, std } = columnMoments({ name: table, kind: `"${name}",`, values: complete, count: 1 });
  return { name, type, impute, mean: mean[0], std: std[0], ...range };
}

function medianOf(sorted: Float64Array): number {
  const middle = sorted.length / 2;
  return Number.isInteger(middle) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[Math.floor(middle)];
}

function mostFrequentBit(values: Float64Array): number {
  const ones = values.filter((value) => value === 1).length;
  return 2 * ones > values.length ? 1 : 0;
}

/** Number of features that a column becomes. */
export function widthOf(step: ColumnStep): number {
  return (step.type === 'category' ? step.categories.length : 1) + (step.impute?.indicator ? 1 : 0);
}

/** Where the features of the columns of categories lie. */
export function categoryFeatures(steps: readonly ColumnStep[]): CategoryFeatures[] {
  let start = 0;
  return steps.flatMap((step) => {
    const own = step.type === 'category' ? [{ start, count: step.categories.length }] : [];
    start += widthOf(step);
    return own;
  });
}

/**
 * Features of a table's rows, shape `[rows, F]`: each column's own, then its indicator if it has one.
 * @throws Error if a column is absent, of another type, or has a missing value that is not imputed
 */
export function tableFeatures({ columns: steps }: TableStep, table: Table, rows: Int32Array) {
  const width = steps.reduce((sum, step) => sum + widthOf(step), 0);
  const features = new Float32Array(rows.length * width);
  let at = 0;
  for (const step of steps) {
    const column = columnOf(table, step.name);
    if (column.type !== step.type) throw wrongType(table, column, step);
    const write = (row: number, i: number) => writeFeatures(step, { table, column, row }, features, i * width + at);
    if (column.values instanceof Float64Array && step.type !== 'category') {
      const { values } = column;
      const { mean, std } = step;
      // The general way takes three times as long, which counts in predictions of millions of rows.
      rows.forEach((row, i) => {
        if (Number.isNaN(values[row])) write(row, i);
        else features[i * width + at] = (values[row] - mean) / std;
      });
    } else rows.forEach(write);
    at += widthOf(step);
  }
  return { features, width };
}

interface TableCell {
  table: Table;
  column: Column;
  row: number;
}

function writeFeatures(step: ColumnStep, cell: TableCell, features: Float32Array, at: number): void {
  const { table, column, row } = cell;
  const isMissing = isMissingAt(column, row);
  if (isMissing && step.impute === null) throw missingAt(table, column, row);
  const value = isMissing ? step.impute?.value : column.values[row];
  if (step.type === 'category') {
    // -1 is a value that the training split lacks.
    const category = step.categories.indexOf(String(value));
    if (category >= 0) features[at + category] = 1;
  } else {
    features[at] = (Number(value) - step.mean) / step.std;
  }
  if (step.impute?.indicator && isMissing) features[at + widthOf(step) - 1] = 1;
}

/**
 * How a value does not fit the training split: it is absent, not of the column's type, a category that the split lacks,
 * or beyond its range.
 */
export type Misfit = 'missing' | 'mistyped' | 'unseen' | 'outside';

/** Tells how the value of a row does not fit; null where it does. Numbers are compared as features, in float32. */
export function misfitsOf(step: ColumnStep | TextColumnStep, column: Column): (row: number) => Misfit | null {
  if (!('type' in step)) return (row) => (isMissingAt(column, row) ? 'missing' : null);
  if (step.type === 'category') {
    const known = new Set(step.categories);
    return (row) => {
      if (isMissingAt(column, row)) return 'missing';
      return known.has(String(column.values[row])) ? null : 'unseen';
    };
  }
  const [smallest, largest] = [Math.fround(step.smallest), Math.fround(step.largest)];
  const mistyped = 'mistyped' in column ? column.mistyped : undefined;
  return (row) => {
    if (isMissingAt(column, row)) return mistyped?.has(row) ? 'mistyped' : 'missing';
    const value = Math.fround(Number(column.values[row]));
    return value < smallest || value > largest ? 'outside' : null;
  };
}

function wrongType({ name: table }: Table, { name, type }: Column, step: ColumnStep): Error {
  return new Error(
    `Column "${name}" of ${table} is of type ${type}, but of type ${step.type} in the training data. Read it with ` +
      'the types of the training data: readTable(file, { columns: columnTypes(preprocessing) }).',
  );
}
