import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seriesOf } from '../../../workers/data/series/series-of.ts';
import type { SeriesStep } from '../../../core/preprocessing/schema.ts';
import { joinedTables, lastWindows } from '../../../workers/data/series/last-windows.ts';
import { withNotes } from '../../../workers/data/notes.ts';
import { parseTable } from '../../../workers/data/tables/read-table.ts';
import { windows, windowSplits } from '../../../workers/data/series/windows.ts';

/** Value of column c at step t: 10 t + c. */
const series = (steps: number, columns = 1): Float32Array =>
  Float32Array.from({ length: steps * columns }, (_, i) => 10 * Math.floor(i / columns) + (i % columns));

describe('a series of a table', () => {
  const parse = (text: string) => parseTable(Buffer.from(text), 'load.csv');

  it('has the chosen columns, step by step', async () => {
    const table = await parse('day,load,weather\n1,0.5,dry\n2,0.25,wet\n');
    expect(seriesOf(table, ['load', 'day'])).toMatchObject({ columns: 2, values: Float32Array.of(0.5, 1, 0.25, 2) });
    expect(() => seriesOf(table, ['weather'])).toThrow(/Column "weather" of .*load.csv holds text/);
  });

  it('names the row that lacks a value', async () => {
    const table = await parse('day,load\n1,0.5\n2,\n3,4\n');
    expect(() => seriesOf(table, ['load'])).toThrow(/no value in row 2/);
  });
});

describe('the last steps of series', () => {
  const parse = (text: string) => parseTable(Buffer.from(text), 'load.csv');
  const step = (own: Partial<SeriesStep>): SeriesStep => ({
    kind: 'series',
    columns: [{ name: 'v', type: 'number' }],
    length: 2,
    time: { name: 't', type: 'number' },
    entity: null,
    gaps: null,
    ...own,
  });

  it('are one sample of each series, whatever the order of the rows', async () => {
    const table = await parse('t,place,v\n2,north,20\n1,north,10\n1,south,5\n3,north,30\n2,south,6\n');
    const ofPlaces = step({ entity: { name: 'place', type: 'category' } });
    const shape: [number, number] = [2, 1];
    const values = Float32Array.of(20, 30, 5, 6);
    const times = Float64Array.of(3, 2);
    const entities = ['north', 'south'];
    expect(lastWindows(ofPlaces, table)).toEqual({ values, shape, entities, times, leftOut: null });
    const longer = lastWindows({ ...ofPlaces, length: 3 }, table);
    expect([[...longer.values], longer.entities]).toEqual([[10, 20, 30], ['north']]);
    expect(longer.leftOut).toBe(
      'load.csv: 1 of 2 series have less than the 3 steps of a sample, without a gap among them.',
    );
    expect(() => lastWindows({ ...ofPlaces, length: 4 }, table)).toThrow(
      'load.csv: no series has the 4 steps of a sample, without a gap among them. Give earlier rows too.',
    );
  });

  it('do not reach over a gap', async () => {
    const table = await parse('t,v\n1,1\n2,2\n3,3\n4,4\n7,7\n8,8\n');
    expect([...lastWindows(step({ gaps: 'cut' }), table).values]).toEqual([7, 8]);
    expect([...lastWindows(step({ gaps: 'ignore', length: 3 }), table).values]).toEqual([4, 7, 8]);
    expect(() => lastWindows(step({ gaps: 'cut', length: 3 }), table)).toThrow('no series has the 3 steps');
    expect(() => lastWindows(step({}), table)).toThrow('1 of 5 steps are not about as long as the usual one (1)');
  });

  it('are what a run keeps of a split series, as long as its values are those of the table', async () => {
    const table = await parse(`t,v,w\n${Array.from({ length: 9 }, (_, i) => `${i},${i * i},${2 * i}`).join('\n')}\n`);
    const own = seriesOf(table, ['v', 'w'], { time: 't' });
    const options = { ...own, length: 2, targetColumns: [1] };
    const ofTable = windowSplits(options, { test: 3 }).preprocessing;
    const number = (name: string) => ({ name, type: 'number' });
    expect(ofTable).toMatchObject({
      steps: [step({ columns: [number('v'), number('w')] as SeriesStep['columns'] })],
      target: { kind: 'values', columns: ['w'], mean: [0], std: [1] },
      reading: { file: 'load.csv' },
    });
    expect(windowSplits({ ...options, horizon: 2 }, { test: 3 }).preprocessing?.target).toMatchObject({
      columns: ['w +1', 'w +2'],
    });
    expect(windowSplits({ ...options, values: own.values.map(Math.sqrt) }, {}).preprocessing).toBeUndefined();
  });

  it('are those of the whole table where it was read in parts', async () => {
    const parts = await Promise.all(['t,place,v\n1,a,10\n2,a,20\n', 't,place,v\n3,b,30\n'].map(parse));
    expect(joinedTables(parts)).toMatchObject({
      length: 3,
      columns: [
        { values: Float64Array.of(1, 2, 3) },
        { values: ['a', 'a', 'b'] },
        { values: Float64Array.of(10, 20, 30) },
      ],
    });
  });
});

describe('windows over a series', () => {
  it('have the steps before as features and those after as targets', () => {
    const dataset = windows({ name: 's', values: series(7), length: 3, horizon: 2, stride: 2 });
    expect(dataset).toMatchObject({ length: 2, featureShape: [3, 1] });
    expect([...dataset.features]).toEqual([0, 10, 20, 20, 30, 40]);
    expect([...dataset.targets]).toEqual([30, 40, 50, 60]);
  });

  it('predict only the columns asked for, step by step', () => {
    const dataset = windows({
      name: 's',
      values: series(4, 3),
      columns: 3,
      length: 2,
      horizon: 2,
      targetColumns: [2, 0],
    });
    expect([...dataset.features]).toEqual([0, 1, 2, 10, 11, 12]);
    expect([...dataset.targets]).toEqual([22, 20, 32, 30]);
  });

  it('never share a target between splits, and train only on what comes before (drawn)', () => {
    const drawn = fc.record({
      steps: fc.integer({ min: 30, max: 80 }),
      length: fc.integer({ min: 1, max: 5 }),
      horizon: fc.integer({ min: 1, max: 4 }),
      stride: fc.integer({ min: 1, max: 3 }),
      validation: fc.constantFrom(0, 0.2, 6),
      test: fc.constantFrom(0, 0.25, 7),
    });
    fc.assert(
      fc.property(drawn, ({ steps, length, horizon, stride, validation, test }) => {
        const splits = windowSplits(
          { name: 's', values: series(steps), length, horizon, stride },
          { validation, test },
        );
        const [train, held, last] = [splits.train, splits.validation, splits.test].map((split) => [
          ...(split?.targets ?? []),
        ]);
        for (const [before, after] of [
          [train, held],
          [train, last],
          [held, last],
        ]) {
          expect(Math.max(-Infinity, ...before)).toBeLessThan(Math.min(Infinity, ...after));
        }
        expect(Math.max(-Infinity, ...last)).toBeLessThanOrEqual(10 * (steps - 1));
        expect(splits.validation === undefined).toBe(validation === 0);
        for (const split of [splits.train, splits.validation, splits.test]) {
          for (let i = 0; i < (split?.length ?? 0); i++) {
            const end = split?.features[(i + 1) * length - 1] ?? NaN;
            expect(split?.targets[i * horizon]).toBe(end + 10);
          }
        }
      }),
      { seed: 13, numRuns: 100 },
    );
  });

  it('refuse what is impossible, with the reason', () => {
    expect(() => windows({ name: 's', values: series(3), length: 3 })).toThrow(/no window of 3 steps before 1 steps/);
    expect(() => windows({ name: 's', values: series(3), length: 0 })).toThrow(/length is 0/);
    expect(() => windows({ name: 's', values: series(3), columns: 2, length: 1 })).toThrow(/steps is 1.5/);
    expect(() => windows({ name: 's', values: series(3), length: 1, targetColumns: [1] })).toThrow(/target column 1 /);
    expect(() => windowSplits({ name: 's', values: series(9), length: 2 }, { test: 9 })).toThrow(
      /no steps to train on/,
    );
  });
});

describe('the steps of a series', () => {
  const parse = (text: string) => parseTable(Buffer.from(text), 'load.csv');
  const day = (i: number) => new Date(Date.UTC(2024, 0, 1 + i)).toISOString().slice(0, 10);
  const rows = (days: readonly number[], valueOf = (i: number) => i) =>
    `date,v\n${days.map((i) => `${day(i)},${valueOf(i)}`).join('\n')}\n`;
  const targetsOf = (dataset: { targets: ArrayLike<number> } | undefined) => Array.from(dataset?.targets ?? []);
  const notesOf = async (work: () => unknown) => (await withNotes(() => Promise.resolve(work()))).notes;

  it('are sorted by time, so that the last are tested on', async () => {
    const newestFirst = Array.from({ length: 20 }, (_, i) => 19 - i);
    const shuffled = [7, 3, 12, 0, 19, 5, 16, 1, 9, 14, 2, 18, 11, 4, 8, 17, 6, 13, 10, 15];
    for (const days of [newestFirst, shuffled, newestFirst.toReversed()]) {
      const series = seriesOf(await parse(rows(days)), ['v'], { time: 'date' });
      const splits = windowSplits({ ...series, length: 3 }, { validation: 4, test: 0.2 });
      expect(targetsOf(splits.train)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11]);
      expect(targetsOf(splits.validation)).toEqual([12, 13, 14, 15]);
      expect(targetsOf(splits.test)).toEqual([16, 17, 18, 19]);
      expect([...splits.train.features.subarray(0, 3)]).toEqual([0, 1, 2]);
    }
    expect(targetsOf(windows({ name: 's', values: Float32Array.of(2, 0, 1), time: [30, 10, 20], length: 1 }))).toEqual([
      1, 2,
    ]);
  });

  it('lie in the order of time in the values themselves, entity by entity, and messages name the rows of the table', async () => {
    const table = await parse('t,place,v\n3,b,30\n1,a,10\n2,b,20\n2,a,11\n');
    const series = seriesOf(table, ['v', 't'], { time: 't', entity: 'place' });
    expect([...series.values]).toEqual([20, 2, 30, 3, 10, 1, 11, 2]);
    expect(Array.from(series.time ?? [])).toEqual([2, 3, 1, 2]);
    expect(series.entity).toEqual(['b', 'b', 'a', 'a']);
    expect(Array.from(series.tableRows ?? [])).toEqual([2, 0, 1, 3]);
    const twice = seriesOf(await parse('t,v\n2,1\n1,2\n2,3\n'), ['v'], { time: 't' });
    expect(() => windows({ ...twice, length: 1 })).toThrow('the rows 1 and 3 have the same time (2)');
    const uneven = seriesOf(await parse('t,v\n9,1\n3,2\n2,3\n1,4\n'), ['v'], { time: 't' });
    expect(() => windows({ ...uneven, length: 1 })).toThrow('from row 2 (3) to row 1 (9)');
    const none = await parse('t,v\n2,1\n,2\n');
    expect(() => seriesOf(none, ['v'], { time: 't' })).toThrow('row 2 has no time');
  });

  it('are refused where they are not in the order of the dates and no time is named', async () => {
    const newestFirst = await parse(rows([5, 4, 3, 2, 1]));
    expect(() => seriesOf(newestFirst, ['v'])).toThrow(
      `The rows of load.csv are not in the order of "date": row 2 is earlier than row 1. Name the column by ` +
        `which they are sorted, and that of the entity if there are several series: seriesOf(table, columns, { time: 'date' }).`,
    );
    const twice = await parse(rows([1, 1, 2, 2]));
    expect(() => seriesOf(twice, ['v'])).toThrow('row 2 has the same date as row 1');
    expect(seriesOf(await parse(rows([1, 2, 5])), ['v']).time).toBeUndefined();
    expect(seriesOf(await parse(rows([3, 3, 3])), ['v']).columns).toBe(1);
    const text = await parse('date,v\nfirst,1\nsecond,2\n');
    expect(() => seriesOf(text, ['v'], { time: 'date' })).toThrow('Column "date" of load.csv holds text (category)');
  });

  it('are noted where nothing orders them', async () => {
    const [note, ...others] = await notesOf(() =>
      windowSplits({ name: 's', values: series(20), length: 2 }, { test: 5 }),
    );
    expect(note).toMatch(/^The steps of "s" are taken in the order in which they come, which nothing checks\./);
    expect(others).toEqual([]);
    expect(await notesOf(() => windows({ name: 's', values: series(5), time: [1, 2, 3, 4, 5], length: 2 }))).toEqual(
      [],
    );
  });

  it('have one time each, and are about as long as each other, or say what then', async () => {
    const timed =
      (time: number[], more: object = {}) =>
      () =>
        windows({ name: 's', values: series(time.length), length: 2, time, ...more });
    expect(timed([1, 2, 2, 3])).toThrow(
      'Series "s": the rows 2 and 3 have the same time (2). If the rows are of several series, name what tells ' +
        'them apart (entity); else remove one.',
    );
    expect(timed([1, 2, 2, 3], { entity: ['a', 'a', 'a', 'a'] })).toThrow('Both are of a: remove one.');
    expect(timed([1, Number.NaN, 3])).toThrow('row 2 has no time');
    expect(timed([1, 2, 3], { entity: ['a'] })).toThrow('entity has 1 values for 3 steps');
    expect(() => windows({ name: 's', values: series(9), length: 2, gaps: 'cut' })).toThrow('gaps needs time');
    const days = [0, 1, 2, 3, 4, 7, 8, 9, 10, 11];
    expect(timed(days)).toThrow(
      '1 of 9 steps are not about as long as the usual one (1), first that of 3 from row 5 (4) to row 6 (7). ' +
        "Fill the series, or set gaps: 'cut' so that no window crosses a gap, or 'ignore'",
    );
    // Values are ten times the row: no window may have the rows 4 and 5.
    expect(targetsOf(timed(days, { gaps: 'cut' })())).toEqual([20, 30, 40, 70, 80, 90]);
    expect(targetsOf(timed(days, { gaps: 'ignore' })())).toEqual([20, 30, 40, 50, 60, 70, 80, 90]);
    expect(timed([0, 1, 2, 2.1, 3], { gaps: 'cut' })).toThrow("set gaps: 'ignore'");
    // Months of 31, 29, 31 and 30 days.
    expect(timed([0, 31, 60, 91, 121])().length).toBe(3);
  });

  it('of several entities are divided at the same times, and no window crosses from one to another', async () => {
    // Station b begins at day 2; the value is the day, plus 100 for b.
    const table = await parse(
      [
        'date,station,v',
        ...Array.from({ length: 10 }, (_, i) => `${day(i)},a,${i}`),
        ...Array.from({ length: 8 }, (_, i) => `${day(9 - i)},b,${109 - i}`),
        `${day(9)},c,209`,
      ].join('\n'),
    );
    const series = seriesOf(table, ['v'], { time: 'date', entity: 'station' });
    const { result, notes } = await withNotes(() =>
      Promise.resolve(windowSplits({ ...series, length: 2 }, { validation: 0.2, test: 0.2 })),
    );
    expect(targetsOf(result.train)).toEqual([2, 3, 4, 5, 104, 105]);
    expect(targetsOf(result.validation)).toEqual([6, 7, 106, 107]);
    expect(targetsOf(result.test)).toEqual([8, 9, 108, 109]);
    expect([...result.train.features.subarray(8, 10)]).toEqual([102, 103]);
    // Windows of both stations cover the same days.
    expect([...(result.train.spans ?? [])]).toEqual([0, 3, 1, 4, 2, 5, 3, 6, 2, 5, 3, 6]);
    expect(notes).toEqual([
      'Series "load.csv": 1 of 3 entities or parts between gaps are shorter than the 3 steps of a window and ' +
        'are left out, first the one that begins in row 19.',
    ]);
    expect(() => windows({ name: 's', values: series.values, length: 2, entity: ['a'] })).toThrow('entity needs time');
  });
});
