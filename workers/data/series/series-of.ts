import type { Preprocessing, SeriesStep } from '../../../core/preprocessing/schema.ts';
import { sortedRows } from '../../../core/preprocessing/time-steps.ts';
import type { Column, NumericColumn } from '../tables/columns.ts';
import { columnOf, type Table } from '../tables/table.ts';
import type { StepOrder } from './steps.ts';

/** A series of T steps with C values each, for `windows` and `windowSplits`. */
export interface Series extends Pick<StepOrder, 'time' | 'entity' | 'tableRows'> {
  readonly name: string;
  /** Shape `[T, C]`, row by row. */
  readonly values: Float32Array;
  /** C */
  readonly columns: number;
  /** Where it comes from, by which a run keeps how a table becomes samples. */
  readonly origin: SeriesOrigin;
}

/** The table of a series. */
export interface SeriesOrigin extends Pick<SeriesStep, 'columns' | 'time' | 'entity'>, Pick<Preprocessing, 'reading'> {
  /** The values of the series as they are in the table. */
  values: Float32Array;
}

/** The columns that order the rows of a series. */
export interface SeriesColumns {
  /** Dates or numbers: the steps are in its order. */
  time?: string;
  /** What tells several series of a table apart. */
  entity?: string;
}

/**
 * The series that columns of numbers form, a row a step.
 * @throws TypeError if a column holds text, RangeError that names the row where a value is missing, or where the rows
 * are not in the order of the table's dates and no column of the time is named
 */
export function seriesOf(table: Table, names: readonly string[], { time, entity }: SeriesColumns = {}): Series {
  const columns = names.map((name) => numbersIn(table, name));
  for (const { name, values } of columns) {
    const missing = values.findIndex(Number.isNaN);
    if (missing < 0) continue;
    throw new RangeError(
      `Column "${name}" of ${table.name} has no value in row ${missing + 1}: fill the series first.`,
    );
  }
  const times = time === undefined ? undefined : timesIn(table, time);
  if (times === undefined) requireOrder(table);
  const entities = entity === undefined ? undefined : entitiesIn(table, columnOf(table, entity));
  const steps = columns[0]?.values.length ?? 0;
  const tableRows =
    times === undefined
      ? Int32Array.from({ length: steps }, (_, row) => row)
      : sortedRows({ time: times, entity: entities });
  const values = Float32Array.from({ length: steps * columns.length }, (_, i) => {
    return columns[i % columns.length].values[tableRows[Math.floor(i / columns.length)]];
  });
  const [timeColumn, entityColumn] = [time, entity].map((name) => {
    return name === undefined ? null : kindOf(columnOf(table, name));
  });
  const { reading } = table;
  return {
    name: table.name,
    values,
    columns: columns.length,
    origin: {
      values,
      columns: columns.map(kindOf),
      time: timeColumn,
      entity: entityColumn,
      ...(reading && { reading }),
    },
    tableRows,
    ...(times !== undefined && { time: Float64Array.from(tableRows, (row) => times[row]) }),
    ...(entities !== undefined && { entity: Array.from(tableRows, (row) => entities[row]) }),
  };
}

const kindOf = ({ name, type }: Column) => ({ name, type });

function timesIn(table: Table, name: string): ArrayLike<number> {
  const { values } = numbersIn(table, name);
  const missing = values.findIndex((value) => !Number.isFinite(value));
  if (missing < 0) return values;
  throw new RangeError(`Series "${table.name}": row ${missing + 1} has no time. Complete or remove the row.`);
}

function numbersIn(table: Table, name: string): NumericColumn {
  const column = columnOf(table, name);
  if (column.type === 'number' || column.type === 'date' || column.type === 'boolean') return column;
  throw new TypeError(`Column "${name}" of ${table.name} holds text (${column.type}), but a series needs numbers.`);
}

function entitiesIn({ name: table }: Table, { name, values }: Column): (string | number)[] {
  return Array.from<string | number | null, string | number>(values, (value, row) => {
    if (value !== null && !Number.isNaN(value)) return value;
    throw new RangeError(
      `Column "${name}" of ${table} has no value in row ${row + 1}: say which series it belongs to.`,
    );
  });
}

/**
 * A table with one column of dates has its rows in their order, or says how else. A column with a single date orders
 * nothing.
 */
function requireOrder(table: Table): void {
  const dates = table.columns.filter(({ type }) => type === 'date') as NumericColumn[];
  if (dates.length !== 1) return;
  const [{ name, values }] = dates;
  const wrong = values.findIndex((value, row) => row > 0 && value <= values[row - 1]);
  if (wrong < 0 || values.every((value) => value === values[0])) return;
  const isTwice = values[wrong] === values[wrong - 1];
  throw new RangeError(
    `The rows of ${table.name} are not in the order of "${name}": row ${wrong + 1} ` +
      `${isTwice ? 'has the same date as' : 'is earlier than'} row ${wrong}. Name the column by which they are ` +
      `sorted, and that of the entity if there are several series: seriesOf(table, columns, { time: '${name}' }).`,
  );
}
