import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../core/preprocessing/profile.ts';
import { profileTable } from '../../../workers/data/tables/profile-table.ts';
import { temporaryFolder } from './temp-folder.ts';

/** The findings of a table that are about its times. */
async function findingsOf(lines: readonly string[]): Promise<Finding[]> {
  const file = join(await temporaryFolder(), 'd.csv');
  await writeFile(file, lines.join('\n'));
  const kinds = ['time', 'time-order', 'gaps', 'double-times', 'time-zones', 'clock', 'groups', 'date-format'];
  return (await profileTable(file)).findings.filter(({ kind }) => kinds.includes(kind));
}

const mixed = (i: number): number => ((i * 7919) % 101) / 100;
/** The date so many days after 2024-01-01. */
const day = (count: number): string => new Date(Date.UTC(2024, 0, 1 + count)).toISOString().slice(0, 10);
const row = (time: string, i: number): string => `${time},${mixed(i)}`;
const days = (counts: readonly number[]): string[] => ['date,v', ...counts.map((count, i) => row(day(count), i))];
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const warnings = (findings: readonly Finding[]): Finding[] => findings.filter(({ level }) => level !== 'note');

describe('times', () => {
  it('are said with range, step and order', async () => {
    expect(await findingsOf(days(upTo(40)))).toEqual([
      {
        level: 'note',
        kind: 'time',
        column: 'date',
        message:
          '"date" is a time from 2024-01-01 to 2024-02-09 in steps of 1 day, oldest first. The rows are the steps of ' +
          'a series: forecast the next one from windows, or test on the latest rows.',
        choices: null,
        option: "time: 'date'",
      },
    ]);
  });

  it.each<[what: string, times: string[], says: string]>([
    [
      'hours',
      upTo(30).map((i) => `${day(Math.floor(i / 24))} ${String(i % 24).padStart(2, '0')}:00`),
      'in steps of 1 hour,',
    ],
    [
      'quarters of an hour',
      upTo(30).map((i) => `2024-01-01 0${Math.floor(i / 4)}:${String(15 * (i % 4)).padStart(2, '0')}`),
      'in steps of 15 minutes,',
    ],
    [
      'months',
      upTo(30).map((i) => `${2020 + Math.floor(i / 12)}-${String((i % 12) + 1).padStart(2, '0')}-01`),
      'in steps of about 31 days,',
    ],
    ['no steps', upTo(30).map((i) => day(i * i)), 'in changing steps,'],
  ])('have steps: %s', async (_, times, says) => {
    const findings = await findingsOf(['when,v', ...times.map(row)]);
    expect(findings.map(({ message }) => message)).toEqual([expect.stringContaining(says)]);
  });

  it.each([':', '.'])(
    'of the day in a column of their own (18%s00) tell no series apart, and are to be joined',
    async (sign) => {
      const rows = upTo(240).map(
        (i) => `${day(Math.floor(i / 24))},${String(i % 24).padStart(2, '0')}${sign}00${sign}00,${mixed(i)}`,
      );
      const findings = await findingsOf(['Date,Time,v', ...rows]);
      expect(findings.map(({ level, kind, column }) => `${level} ${kind} ${column}`)).toEqual([
        'warning clock Time',
        'note time Date',
      ]);
      expect(findings[0].message).toBe(
        '"Time" has the time of the day of "Date". Write both in one column, such as 2004-03-10 18:00: apart, the rows ' +
          'of a day have no order, and make no series.',
      );
    },
  );

  it('with the newest first, or in no order, are to be sorted', async () => {
    const [finding, ...others] = warnings(await findingsOf(days(upTo(40).toReversed())));
    expect(others).toEqual([]);
    expect(finding).toEqual({
      level: 'warning',
      kind: 'time-order',
      column: 'date',
      message:
        'The rows are newest first by "date". Taken as they come, the last rows would not be the latest: sort them by ' +
        'their time.',
      choices: null,
      option: "time: 'date'",
    });
    const [mixedUp] = warnings(await findingsOf(days(upTo(40).map((i) => (i * 7) % 40))));
    expect(mixedUp.message).toContain('The rows are in no order by "date".');
  });

  it('with gaps name the first one and its row', async () => {
    // Of 36 steps, the one from day 9 to day 12 (in row 11) and the one from day 30 to day 32 are longer.
    const [finding, ...others] = warnings(await findingsOf(days(upTo(40).filter((i) => ![10, 11, 31].includes(i)))));
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ kind: 'gaps', column: 'date', option: "gaps: 'cut', or gaps: 'ignore'" });
    expect(finding.message).toBe(
      '2 of 36 steps of "date" are not about as long as the usual one (1 day), first the one of 3 days to 2024-01-13 ' +
        '(row 11).',
    );
  });

  it('that occur twice are named with their row', async () => {
    const [finding, ...others] = warnings(await findingsOf(days([...upTo(20), 19, ...upTo(40).slice(20)])));
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ level: 'warning', kind: 'double-times', column: 'date', option: null });
    expect(finding.message).toBe(
      '1 row has the "date" of another row, first 2024-01-20 (row 21). Remove one of each, or name the column that ' +
        'tells their series apart.',
    );
  });

  it('of several series are judged series by series, and what tells these apart is a border', async () => {
    const places = ['north', 'south', 'west'];
    const lines = upTo(30).flatMap((i) => places.map((place, at) => `${day(i)},${place},${mixed(3 * i + at)}`));
    const [finding, ...others] = warnings(await findingsOf(['date,place,v', ...lines]));
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ kind: 'groups', column: 'place', option: "group: 'place', or entity: 'place'" });
    expect(finding.message).toBe(
      '"place" tells 3 series apart: each has a row for each "date". Rows of one series are alike: keep them in one ' +
        'split, and let no window cross from one series to the next.',
    );
    // The day 5 of the south is in row 17 (the rows from 1, three for each day).
    const [, gap] = warnings(await findingsOf(['date,place,v', ...lines.filter((_, i) => i !== 13)]));
    expect(gap.message).toContain('1 of 86 steps of "date" is not about as long as the usual one (1 day)');
    expect(gap.message).toContain('to 2024-01-06 (row 16).');
  });

  it('in several time zones are compared in UTC, and those without one are named', async () => {
    const hours = upTo(20).map((i) => `2024-03-31T${String(i).padStart(2, '0')}:00:00`);
    const zoned = await findingsOf(['t,v', ...hours.map((time, i) => row(`${time}${i < 5 ? '+01:00' : 'Z'}`, i))]);
    expect(zoned.filter(({ kind }) => kind === 'time-zones').map(({ level, message }) => [level, message])).toEqual([
      ['note', 'The times of "t" are written in +01:00, Z, and are compared in UTC.'],
    ]);
    const some = await findingsOf(['t,v', ...hours.map((time, i) => row(`${time}${i < 5 ? '+01:00' : ''}`, i))]);
    expect(some.filter(({ kind }) => kind === 'time-zones').map(({ level, message }) => [level, message])).toEqual([
      [
        'warning',
        '15 of 20 times of "t" have no time zone and count as UTC; the others have +01:00. Write the zone of all.',
      ],
    ]);
  });

  it('whose day and month may be either are asked for', async () => {
    const dates = upTo(30).map((i) => `0${(i % 9) + 1}/0${((i * 5) % 9) + 1}/2021`);
    const findings = await findingsOf(['date,v', ...dates.map(row)]);
    expect(findings.find(({ level }) => level === 'question')).toMatchObject({
      kind: 'date-format',
      column: 'date',
      choices: ['DD/MM/YYYY', 'MM/DD/YYYY'],
    });
    const [clear] = await findingsOf([
      'date,v',
      ...upTo(30).map((i) => row(`${String(i + 1).padStart(2, '0')}/01/2011`, i)),
    ]);
    expect(clear).toMatchObject({ level: 'note', kind: 'date-format', option: "dateFormat: { date: 'DD/MM/YYYY' }" });
  });
});
