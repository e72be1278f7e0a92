import type { PredictionColumn } from '../../../core/ensemble/columns.ts';
import { shownValue } from '../../../core/preprocessing/column-profile.ts';
import type { SeriesStep } from '../../../core/preprocessing/schema.ts';
import type { Column, ColumnType } from '../tables/columns.ts';
import type { Table } from '../tables/table.ts';
import { seriesOf } from './series-of.ts';
import { orderSteps } from './steps.ts';

/** The last steps of N series. */
export interface LastWindows {
  /** Shape `[N, length, C]`. */
  values: Float32Array;
  shape: [length: number, columns: number];
  /** What tells the series apart; shape `[N]`; null: there is one. */
  entities: (string | number)[] | null;
  /** When the last step of each was, as `seriesOf` counts; shape `[N]`; null: the steps have no time. */
  times: Float64Array | null;
  /** That series are left out because they have too few steps, in words; null: none is. */
  leftOut: string | null;
}

/** The types with which the columns of a series are read. */
export function seriesTypes({ columns, time, entity }: SeriesStep): Record<string, ColumnType> {
  return Object.fromEntries([...columns, time, entity].flatMap((own) => (own === null ? [] : [[own.name, own.type]])));
}

/**
 * The last `length` steps of each series of a table. A series with fewer, or fewer since its last gap, is left out.
 * @throws RangeError as `windows`, and where no series has enough steps
 */
export function lastWindows({ columns, length, time, entity, gaps }: SeriesStep, table: Table): LastWindows {
  const order = { ...(time && { time: time.name }), ...(entity && { entity: entity.name }) };
  const names = columns.map(({ name }) => name);
  const series = seriesOf(table, names, order);
  const { parts } = orderSteps(table.name, table.length, { ...series, ...(gaps && { gaps }) });
  // The parts of a series follow each other: the last one takes the place of those before.
  const lastParts = [...new Map(parts.map((part) => [series.entity?.[part[0]], part])).values()];
  const long = lastParts.filter(([first, end]) => end - first >= length);
  const leftOut = shortSeries(table.name, length, { all: lastParts.length, long: long.length });
  const size = length * names.length;
  const values = new Float32Array(long.length * size);
  long.forEach(([, end], i) => {
    values.set(series.values.subarray((end - length) * names.length, end * names.length), i * size);
  });
  const lastOf = <T>(of: ArrayLike<T>): T[] => long.map(([, end]) => of[end - 1]);
  return {
    values,
    shape: [length, names.length],
    entities: series.entity === undefined ? null : lastOf(series.entity),
    times: series.time === undefined ? null : Float64Array.from(lastOf(series.time)),
    leftOut,
  };
}

/** What says which samples these are: the name of each series, and the time of its last step, as `after <time>`. */
export function placesOf({ entity, time }: SeriesStep, { entities, times }: LastWindows): PredictionColumn[] {
  return [
    ...(entity === null || entities === null ? [] : [textColumn(entity.name, entities)]),
    ...(time === null || times === null
      ? []
      : [
          textColumn(
            `after ${time.name}`,
            Array.from(times, (own) => shownValue(own, time.type)),
          ),
        ]),
  ];
}

function textColumn(name: string, values: readonly (string | number)[]): PredictionColumn {
  return { name, type: 'text', values: values.map(String), areLabels: true };
}

function shortSeries(name: string, length: number, { all, long }: Record<'all' | 'long', number>): string | null {
  if (long === all) return null;
  const since = 'steps of a sample, without a gap among them';
  if (long === 0) throw new RangeError(`${name}: no series has the ${length} ${since}. Give earlier rows too.`);
  return `${name}: ${all - long} of ${all} series have less than the ${length} ${since}.`;
}

/** The rows of tables with the same columns below each other. */
export function joinedTables(tables: readonly Table[]): Table {
  const [first] = tables;
  if (tables.length === 1) return first;
  const columns = first.columns.map((column, i): Column => {
    const parts = tables.map((own) => own.columns[i].values);
    if (column.type === 'category' || column.type === 'text') {
      return { name: column.name, type: column.type, values: parts.flatMap((part) => [...part] as (string | null)[]) };
    }
    const { name, type } = column;
    return { name, type, values: Float64Array.from(parts.flatMap((part) => [...part] as number[])) };
  });
  return { name: first.name, length: tables.reduce((sum, own) => sum + own.length, 0), columns };
}
