import { quoted } from './column-findings.ts';
import { shownValue } from './column-profile.ts';
import type { Finding, ProfiledTable, TimeProfile } from './profile.ts';
import { hasEnoughSteps, hasEvenSteps, isSeries, type TimeColumn, timeColumn, timeProfile } from './time-columns.ts';

const proposal = 'the rows are the steps of a series';
/** Names of numbers that may be times. */
const timeNames = /^(?:year|month|week|day|date|hour|minute|second|time|timestamp)$/i;
/** Units of time from the longest, in days. */
const units: readonly [name: string, days: number][] = [
  ['day', 1],
  ['hour', 1 / 24],
  ['minute', 1 / 1440],
  ['second', 1 / 86_400],
];

/**
 * The column of the time, and what a person should know of all columns of times: range, order and steps, zones, and the
 * column that tells several series apart.
 * @param wanted the column that the user says is the time; absent: it is proposed where rows are the steps of a series
 * @throws Error where the wanted column holds no times
 */
export function describeTimes(
  table: ProfiledTable,
  wanted?: string,
): { time: TimeProfile | null; findings: Finding[] } {
  const columns = table.columns.flatMap(({ name, type, distinctValues }, i) => {
    const { values, zones: own = new Map() } = table.values[i];
    if (name === wanted) requireTimes(name, type);
    else if (type !== 'date' && !(type === 'number' && timeNames.test(name))) return [];
    if (distinctValues < 2 || !(values instanceof Float64Array)) return [];
    const column = timeColumn(table, { name, type: type === 'date' ? 'date' : 'number', values });
    // Other numbers of such a name are features, such as the hour of the day.
    if (type === 'number' && name !== wanted && !isSeries(column)) return [];
    return [{ column, zones: zones(name, own) }];
  });
  const own = columns.find(({ column }) => (wanted === undefined ? isSeries(column) : column.name === wanted));
  return {
    time: own === undefined ? null : timeProfile(table, own.column, wanted === undefined ? proposal : 'you say so'),
    findings: columns.flatMap(({ column, zones: ofZones }) => [
      rangeFinding(column),
      ...(isSeries(column) ? seriesFindings(column) : []),
      ...ofZones,
      ...clockFindings(table, column),
    ]),
  };
}

function requireTimes(name: string, type: string): void {
  if (type === 'date' || type === 'number') return;
  throw new Error(
    `${JSON.stringify(name)} cannot be the time: it holds no dates or numbers (${type}). Say how its dates are ` +
      'written, or choose another column.',
  );
}

/** Days whose times of the day stand in another column. */
function clockFindings({ values }: ProfiledTable, column: TimeColumn): Finding[] {
  if (column.type !== 'date' || isSeries(column)) return [];
  return values
    .filter(({ isClock = false }) => isClock)
    .map(({ name }) => {
      const [clock, day] = [name, column.name].map((own) => JSON.stringify(own));
      const message =
        `${clock} has the time of the day of ${day}. Write both in one column, such as 2004-03-10 18:00: apart, the rows ` +
        'of a day have no order, and make no series.';
      return warning('clock', name, message, null);
    });
}

/** The range of a time, the usual step and the order of the rows. */
function rangeFinding(column: TimeColumn): Finding {
  const { name, times } = column;
  const [first, last] = [Math.min, Math.max].map((choose) =>
    shown(
      column,
      times.reduce((a, b) => choose(a, b)),
    ),
  );
  const advice = isSeries(column)
    ? 'The rows are the steps of a series: forecast the next one from windows, or test on the latest rows.'
    : 'If new samples are later than these, test on the latest rows.';
  const message = `${JSON.stringify(name)} is a time from ${first} to ${last}${stepText(column)}, ${orderOf(column)}. ${advice}`;
  return finding('time', name, message, `time: ${quoted(name)}`);
}

function stepText(column: TimeColumn): string {
  if (!hasEnoughSteps(column)) return '';
  if (!hasEvenSteps(column)) return ' in changing steps';
  const { lengths, usual } = column;
  const areEven = lengths.every((length) => Number.isNaN(length) || isAbout(length, usual));
  return ` in steps of ${areEven ? '' : 'about '}${durationText(column, usual)}`;
}

/** Times in days are rounded to some 10 microseconds. */
const isAbout = (a: number, b: number): boolean => Math.abs(a - b) * 86_400 < 0.001;

function durationText({ type }: TimeColumn, days: number): string {
  if (type === 'number') return String(Number(days.toPrecision(6)));
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
  const { entity, uneven, doubles } = column;
  return [
    ...(entity === null ? [] : [entityFinding(column, entity)]),
    ...orderFinding(column),
    ...(uneven.length === 0 ? [] : [gapFinding(column)]),
    ...(doubles.length === 0 ? [] : [doubleFinding(column)]),
  ];
}

/** The time of a step, and its row. */
function placeOf(column: TimeColumn, step: number): string {
  const at = column.order[step];
  return `${shown(column, column.times[at])} (row ${column.rows[at] + 1})`;
}

function doubleFinding(column: TimeColumn): Finding {
  const { name, entity, doubles } = column;
  const count = doubles.length;
  const within = entity === null ? '' : ` of one ${JSON.stringify(entity.name)}`;
  const message =
    `${count} ${count === 1 ? 'row has' : 'rows have'} the ${JSON.stringify(name)} of another row${within}, first ` +
    `${placeOf(column, doubles[0])}. Remove one of each, or name the column that tells their series apart.`;
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

function gapFinding(column: TimeColumn): Finding {
  const { name, uneven, count, usual, lengths } = column;
  const areLong = uneven.every((step) => lengths[step] > usual);
  const message =
    `${uneven.length} of ${count} steps of ${JSON.stringify(name)} ${uneven.length === 1 ? 'is' : 'are'} not about ` +
    `as long as the usual one (${durationText(column, usual)}), first the one of ` +
    `${durationText(column, lengths[uneven[0]])} to ${placeOf(column, uneven[0])}.`;
  return warning('gaps', name, message, areLong ? "gaps: 'cut', or gaps: 'ignore'" : "gaps: 'ignore'");
}

/** The zone of a time such as `2026-01-31 12:00+01:00`; empty where it has none, null for a day. */
export function zoneOf(text: string): string | null {
  return /\d:\d\d/.test(text) ? (/:\d\d(?:[.,]\d+)?\s*(z|[+-]\d\d:?\d\d|GMT|UTC)$/i.exec(text)?.[1] ?? '') : null;
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

const shown = ({ type }: TimeColumn, time: number): string => String(shownValue(time, type));

function finding(kind: Finding['kind'], column: string, message: string, option: string | null): Finding {
  return { level: 'note', kind, column, message, choices: null, option };
}

function warning(...about: Parameters<typeof finding>): Finding {
  return { ...finding(...about), level: 'warning' };
}
