import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seriesOf } from '../../../workers/data/series/series-of.ts';
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
