import { countRuns, shownValue } from './column-profile.ts';
import { identifierNames, quoted } from './column-findings.ts';
import type { Finding, ProfiledColumn, ProfiledTable } from './profile.ts';
import { timeSteps, unevenSteps } from './time-steps.ts';

/** Fewer steps show nothing of a series. */
const leastSteps = 8;
/** A column tells series apart if each has so many rows, on average. */
const leastRowsOfSeries = 3;
/** Steps of a series are mostly even: of five trading days, one is followed by a weekend. */
const mostUneven = 0.25;
/** With more double times, rows are no steps of a series. */
const mostDoubles = 0.1;
/** Units of time from the longest, in days. */
const units: readonly [name: string, days: number][] = [
  ['day', 1],
  ['hour', 1 / 24],
  ['minute', 1 / 1440],
  ['second', 1 / 86_400],
];

/** A column of times, with the rows that have one. */
interface TimeColumn {
  name: string;
  /** The rows of the table, from 0; shape `[T]`. */
  rows: number[];
  /** Days since 1970-01-01 UTC; shape `[T]`. */
  times: Float64Array;
  /** What tells the series apart; shape `[T]`. */
  entity: { name: string; values: (string | number)[] } | null;
}

/**
 * What a person should know of the columns of times: range, order and steps, zones, and the column that tells several
 * series apart.
 */
export function findTimeFindings(table: ProfiledTable): Finding[] {
  return table.columns.flatMap(({ name, type, distinctValues }, i) => {
    const { values, zones: own = new Map() } = table.values[i];
    if (type !== 'date' || distinctValues < 2 || !(values instanceof Float64Array)) return [];
    const column = timeColumn(table, name, values);
    return [rangeFinding(column), ...seriesFindings(column), ...zones(name, own)];
  });
}

function timeColumn({ columns, values: all, target }: ProfiledTable, name: string, values: Float64Array): TimeColumn {
  const timed = rowsWith(values);
  const plain: TimeColumn = { name, rows: timed, times: Float64Array.from(timed, (row) => values[row]), entity: null };
  const distinctTimes = countRuns(plain.times.toSorted());
  if (distinctTimes >= (1 - mostDoubles) * timed.length) return plain;
  const candidates = columns
    .map((column, i) => ({ column, own: all[i] }))
    .filter(({ column, own }) => column.name !== name && column.name !== target?.name && mayNameSeries(own))
    .filter(({ column: { distinctValues: n, present } }) => n >= 2 && present >= leastRowsOfSeries * n)
    // Sorting all rows of a large table takes long: so few pairs cannot tell its rows apart.
    .filter(({ column: { distinctValues: n, present } }) => {
      return n * distinctTimes >= (1 - mostDoubles) * (present + timed.length - values.length);
    })
    .sort((a, b) => a.column.distinctValues - b.column.distinctValues)
    .map(({ own }): TimeColumn => {
      const rows = rowsWith(own.values).filter((row) => !Number.isNaN(values[row]));
      const entities = rows.map((row) => own.values[row] ?? '');
      const times = Float64Array.from(rows, (row) => values[row]);
      return { name, rows, times, entity: { name: own.name, values: entities } };
    });
  return candidates.find((column) => shareOfDoubles(column) <= mostDoubles) ?? plain;
}

const rowsWith = (values: ProfiledColumn['values']): number[] =>
  [...values.keys()].filter((row) => values[row] !== null && !Number.isNaN(values[row]));

const mayNameSeries = ({ name, type, values }: ProfiledColumn): boolean =>
  type === 'category' ||
  (type === 'number' &&
    identifierNames.test(name) &&
    values.every((value) => Number.isNaN(value) || Number.isInteger(value)));

const stepsOf = ({ times, entity }: TimeColumn) => timeSteps({ time: times, entity: entity?.values });

function shareOfDoubles(column: TimeColumn): number {
  return stepsOf(column).lengths.filter((length) => length === 0).length / column.times.length;
}

/** The range of a time, the usual step and the order of the rows. */
function rangeFinding(column: TimeColumn): Finding {
  const { name, times } = column;
  const [first, last] = [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))].map(shown);
  const message =
    `${JSON.stringify(name)} is a time from ${first} to ${last}${stepText(column)}, ${orderOf(column)}. If new ` +
    'samples are later than these, test on the latest rows.';
  return finding('time', name, message, null);
}

function stepText(column: TimeColumn): string {
  const lengths = stepsOf(column).lengths.filter((length) => length > 0);
  if (lengths.length < leastSteps) return '';
  const { usual, uneven } = unevenSteps(lengths);
  if (uneven.length > mostUneven * lengths.length) return ' in changing steps';
  return ` in steps of ${lengths.every((length) => isAbout(length, usual)) ? '' : 'about '}${durationText(usual)}`;
}

/** Times in days are rounded to some 10 microseconds. */
const isAbout = (a: number, b: number): boolean => Math.abs(a - b) * 86_400 < 0.001;

function durationText(days: number): string {
  const [unit, size] = units.find(([, own]) => days >= own || isAbout(days, own)) ?? units[units.length - 1];
  const count = Number((days / size).toFixed(2));
  return `${count} ${count === 1 ? unit : `${unit}s`}`;
}

/** The order in which the rows of each series come. */
function orderOf({ times, entity }: TimeColumn): 'oldest first' | 'newest first' | 'in no order' {
  const before = new Map<unknown, number>();
  const signs = new Set<number>();
  times.forEach((value, row) => {
    const own = entity?.values[row];
    const last = before.get(own);
    if (last !== undefined && last !== value) signs.add(Math.sign(value - last));
    before.set(own, value);
  });
  if (signs.size > 1) return 'in no order';
  return signs.has(-1) ? 'newest first' : 'oldest first';
}

/** What training on windows of a series would refuse or mistake. */
function seriesFindings(column: TimeColumn): Finding[] {
  const { times, entity } = column;
  const { rows: order, lengths } = stepsOf(column);
  const doubles = [...lengths.keys()].filter((step) => lengths[step] === 0);
  const positive = lengths.map((length) => (length > 0 ? length : Number.NaN));
  const { usual, uneven, count } = unevenSteps(positive);
  if (count < leastSteps || doubles.length > mostDoubles * times.length || uneven.length > mostUneven * count)
    return [];
  const at = (step: number): string => `${shown(times[order[step]])} (row ${column.rows[order[step]] + 1})`;
  return [
    ...(entity === null ? [] : [entityFinding(column, entity)]),
    ...orderFinding(column),
    ...(uneven.length === 0 ? [] : [gapFinding(column, { uneven, count, usual, lengths: positive, at })]),
    ...(doubles.length === 0 ? [] : [doubleFinding(column, doubles.length, at(doubles[0]))]),
  ];
}

function doubleFinding({ name, entity }: TimeColumn, count: number, first: string): Finding {
  const within = entity === null ? '' : ` of one ${JSON.stringify(entity.name)}`;
  const message =
    `${count} ${count === 1 ? 'row has' : 'rows have'} the ${JSON.stringify(name)} of another row${within}, first ` +
    `${first}. Remove one of each, or name the column that tells their series apart.`;
  return warning('double-times', name, message, null);
}

function entityFinding({ name }: TimeColumn, entity: NonNullable<TimeColumn['entity']>): Finding {
  const count = new Set(entity.values).size;
  const message =
    `${JSON.stringify(entity.name)} tells ${count} series apart: each has a row for each ${JSON.stringify(name)}. ` +
    'Rows of one series are alike: keep them in one split, and let no window cross from one series to the next.';
  return warning('groups', entity.name, message, `group: ${quoted(entity.name)}, or entity: ${quoted(entity.name)}`);
}

function orderFinding(column: TimeColumn): Finding[] {
  const order = orderOf(column);
  if (order === 'oldest first') return [];
  const message =
    `The rows are ${order} by ${JSON.stringify(column.name)}. Taken as they come, the last rows would not be the ` +
    'latest: sort them by their time.';
  return [warning('time-order', column.name, message, `time: ${quoted(column.name)}`)];
}

function gapFinding(
  { name }: TimeColumn,
  steps: { uneven: number[]; count: number; usual: number; lengths: Float64Array; at: (step: number) => string },
): Finding {
  const { uneven, count, usual, lengths, at } = steps;
  const areLong = uneven.every((step) => lengths[step] > usual);
  const message =
    `${uneven.length} of ${count} steps of ${JSON.stringify(name)} ${uneven.length === 1 ? 'is' : 'are'} not about ` +
    `as long as the usual one (${durationText(usual)}), first the one of ${durationText(lengths[uneven[0]])} to ` +
    `${at(uneven[0])}.`;
  return warning('gaps', name, message, areLong ? "gaps: 'cut', or gaps: 'ignore'" : "gaps: 'ignore'");
}

/** The zone of a time such as `2026-01-31 12:00+01:00`; empty where it has none, null for a day. */
export function zoneOf(text: string): string | null {
  return /\d:\d\d/.test(text) ? (/:\d\d(?:[.,]\d+)?\s*(z|[+-]\d\d:?\d\d)$/i.exec(text)?.[1] ?? '') : null;
}

/** Zones with which times are written: without one, a time is taken for UTC. */
function zones(name: string, counts: ReadonlyMap<string, number>): Finding[] {
  const named = [...counts.keys()].filter((zone) => zone !== '');
  if (named.length === 0) return [];
  const without = counts.get('') ?? 0;
  const times = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const shownZones = named.slice(0, 5).join(', ') + (named.length > 5 ? ', ...' : '');
  if (without > 0) {
    const message =
      `${without} of ${times} times of ${JSON.stringify(name)} have no time zone and count as UTC; the others ` +
      `have ${shownZones}. Write the zone of all.`;
    return [warning('time-zones', name, message, null)];
  }
  const message = `The times of ${JSON.stringify(name)} are written in ${shownZones}, and are compared in UTC.`;
  return [finding('time-zones', name, message, null)];
}

const shown = (time: number): string => String(shownValue(time, 'date'));

function finding(kind: Finding['kind'], column: string, message: string, option: string | null): Finding {
  return { level: 'note', kind, column, message, choices: null, option };
}

function warning(...about: Parameters<typeof finding>): Finding {
  return { ...finding(...about), level: 'warning' };
}
