import { identifierNames } from './column-findings.ts';
import { countRuns, shownValue } from './column-profile.ts';
import { heldOutShare, type ProfiledColumn, type ProfiledTable, type TimeProfile } from './profile.ts';
import { splitByTime, timeSteps, unevenSteps } from './time-steps.ts';

/** Fewer steps show nothing of a series. */
const leastSteps = 8;
/** A column tells series apart if each has so many rows, on average. */
const leastRowsOfSeries = 3;
/** Steps of a series are mostly even: of five trading days, one is followed by a weekend. */
const mostUneven = 0.25;
/** Rows with a larger share of double times are no steps of a series. */
const mostDoubles = 0.1;

/** The rows of a table that have a time. */
interface TimedRows {
  name: string;
  type: 'date' | 'number';
  /** Their numbers in the table, from 0; shape `[T]`. */
  rows: readonly number[];
  /** Dates as days since 1970-01-01 UTC; shape `[T]`. */
  times: Float64Array;
  /** What tells the series apart; null: there is one; values of shape `[T]`. */
  entity: { name: string; values: readonly (string | number)[] } | null;
}

/** A column of times, and the steps from each row of a series to the next. */
export interface TimeColumn extends TimedRows {
  /** Positions in `rows`, series by series, each by time; shape `[T]`. */
  order: Int32Array;
  /** The time since the step before; NaN for the first step of a series, and for a time that is there before; `[T]`. */
  lengths: Float64Array;
  /** The median length; NaN without steps. */
  usual: number;
  /** The steps that are not about as long. */
  uneven: readonly number[];
  /** How many steps have a length. */
  count: number;
  /** The steps whose time is that of the step before. */
  doubles: readonly number[];
}

/** A table's column of times; where times occur twice, with what tells several series apart, if a column does. */
export function timeColumn(
  { columns, values: ofColumns, targets }: ProfiledTable,
  { name, type, values }: Pick<TimedRows, 'name' | 'type'> & { values: Float64Array },
): TimeColumn {
  const timedRows = (entity: ProfiledColumn | null): TimedRows => {
    const rows = [...values.keys()].filter((row) => hasTime(row) && (entity === null || hasValue(entity, row)));
    const own = entity && { name: entity.name, values: rows.map((row) => entity.values[row] ?? '') };
    return { name, type, rows, times: Float64Array.from(rows, (row) => values[row]), entity: own };
  };
  const hasTime = (row: number): boolean => !Number.isNaN(values[row]);
  const all = timedRows(null);
  const timed = all.rows.length;
  const distinctTimes = countRuns(all.times.toSorted());
  if (distinctTimes >= (1 - mostDoubles) * timed) return measured(all);
  const candidates = columns
    .map((column, i) => ({ ...column, own: ofColumns[i] }))
    .filter((column) => column.name !== name && !targets.includes(column.name) && mayNameSeries(column.own))
    .filter(({ distinctValues: n, present }) => n >= 2 && present >= leastRowsOfSeries * n)
    // Sorting all rows of a large table takes long: so few pairs cannot tell its rows apart.
    .filter(({ distinctValues: n, present }) => {
      return n * distinctTimes >= (1 - mostDoubles) * (present + timed - values.length);
    })
    .sort((a, b) => a.distinctValues - b.distinctValues);
  for (const { own } of candidates) {
    const column = measured(timedRows(own));
    if (!hasManyDoubles(column)) return column;
  }
  return measured(all);
}

export function hasValue({ values }: Pick<ProfiledColumn, 'values'>, row: number): boolean {
  const value = values[row];
  return typeof value === 'number' ? !Number.isNaN(value) : value !== null;
}

function mayNameSeries(column: ProfiledColumn): boolean {
  const { name, type, values } = column;
  if (type === 'category') return true;
  const areWhole = values.every((value) => Number.isNaN(value) || Number.isInteger(value));
  return type === 'number' && identifierNames.test(name) && areWhole;
}

function measured(timed: TimedRows): TimeColumn {
  const { rows: order, lengths: all } = timeSteps({ time: timed.times, entity: timed.entity?.values });
  const doubles = [...all.keys()].filter((step) => all[step] === 0);
  const lengths = all.map((length) => (length > 0 ? length : Number.NaN));
  return { ...timed, order, lengths, doubles, ...unevenSteps(lengths) };
}

const hasManyDoubles = ({ doubles, rows }: TimeColumn): boolean => doubles.length > mostDoubles * rows.length;

/** Whether rows are steps: enough of them, mostly as long as each other, hardly any at the same time. */
export function isSeries(column: TimeColumn): boolean {
  return hasEnoughSteps(column) && hasEvenSteps(column) && !hasManyDoubles(column);
}

export const hasEnoughSteps = ({ count }: TimeColumn): boolean => count >= leastSteps;
export const hasEvenSteps = ({ count, uneven }: TimeColumn): boolean => uneven.length <= mostUneven * count;

/** The profile of the column of the time. */
export function timeProfile(table: ProfiledTable, column: TimeColumn, reason: string): TimeProfile {
  const { name, entity, usual, uneven, lengths, doubles } = column;
  const series = isSeries(column)
    ? {
        step: usual,
        uneven: uneven.length,
        areGaps: uneven.length > 0 && uneven.every((step) => lengths[step] > usual),
        doubles: doubles.length,
        fewestSteps: fewestSteps(column),
      }
    : null;
  return { name, reason, entity: entity?.name ?? null, series, split: splitOf(table, column) };
}

function fewestSteps({ rows, entity }: TimeColumn): number {
  if (entity === null) return rows.length;
  const counts = new Map<string | number, number>();
  for (const value of entity.values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts.values()].reduce((least, own) => Math.min(least, own), Infinity);
}

/** How the rows that have a target are split by time, as `tableSplits` does. */
function splitOf({ reading, values, targets }: ProfiledTable, { type, rows, times }: TimeColumn): TimeProfile['split'] {
  const wanted = values.filter(({ name }) => targets.includes(name));
  const used = times.filter((_, i) => wanted.length === 0 || wanted.some((own) => hasValue(own, rows[i])));
  const count = Math.round(heldOutShare * used.length);
  if (count === 0) return null;
  const firstOf = (split: Int32Array) =>
    shownValue(
      split.reduce((least, i) => Math.min(least, used[i]), Infinity),
      type,
    );
  try {
    const { train, validation, test } = splitByTime(reading.file, used, { validation: count, test: count });
    return {
      train: train.length,
      validation: validation.length,
      validationFrom: firstOf(validation),
      test: test.length,
      testFrom: firstOf(test),
    };
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
