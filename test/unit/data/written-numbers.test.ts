import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withNotes } from '../../../workers/data/notes.ts';
import { parseTable, type ReadTableOptions } from '../../../workers/data/tables/read-table.ts';
import type { Table } from '../../../workers/data/tables/table.ts';

const parse = (text: string, options: ReadTableOptions = {}) => parseTable(Buffer.from(text), 'd.csv', options);
const columnsOf = ({ columns }: Table) =>
  Object.fromEntries(columns.map(({ name, type, values }) => [name, { type, values: [...values] }]));
const lines = (...rows: string[]) => `${rows.join('\n')}\n`;

describe('numbers', () => {
  it.each([
    ['decimal commas', ['28,7', '3', '-0,5'], [28.7, 3, -0.5]],
    ['points between thousands and decimal commas', ['1.234,5', '7', '12.345.678'], [1234.5, 7, 12_345_678]],
    ['commas between thousands and decimal points', ['1,234.5', '999.25', '1024'], [1234.5, 999.25, 1024]],
    ['several commas between thousands', ['1,234,567', '5'], [1_234_567, 5]],
    ['blanks between thousands', ['1 234', '12\u202f345', '7'], [1234, 12_345, 7]],
    ['apostrophes between thousands', ["1'234.5", '7'], [1234.5, 7]],
    ['a currency sign', ['$1,024.50', '-$16.02', '$3'], [1024.5, -16.02, 3]],
    ['a currency sign behind', ['1.024,50 €', '16,02 €'], [1024.5, 16.02]],
    ['the minus of typography', ['−47', '5.5', '−3'], [-47, 5.5, -3]],
    ['per cent', ['12.5%', '3%'], [12.5, 3]],
    ['a unit behind', ['12 kg', '3.5kg', '-1 kg'], [12, 3.5, -1]],
    ['a unit of several words and powers', ['1,024.5 mg/m³', '3 mg/m³'], [1024.5, 3]],
    ['degrees', ['21 °C', '-3.5 °C'], [21, -3.5]],
    ['times of day, in hours', ['14:00', '0:30', '23:45:36'], [14, 0.5, 23.76]],
    ['times of day with points', ['18.00.00', '9.30.00'], [18, 9.5]],
    ['times of half a day', ['2:00 PM', '12:15 am', '12:30 p.m.'], [14, 0.25, 12.5]],
    ['the code of a currency in front', ['EUR 1,024.50', 'EUR 3'], [1024.5, 3]],
    ['the code of a currency behind', ['1.024,50 EUR', '16,02 EUR'], [1024.5, 16.02]],
  ])('with %s', async (_, cells, values) => {
    const table = await parse(lines('x;y', ...cells.map((cell, i) => `"${cell}";c${i % 2}`)));
    expect(columnsOf(table).x).toEqual({ type: 'number', values });
  });

  it('that can be read in two ways are asked for, unless another column decides', async () => {
    const text = 'x;y\n1,234;a\n5,678;b\n';
    await expect(parse(text)).rejects.toThrow(
      "d.csv, line 2, column 1 (x): \"1,234\" is 1.234 (decimal: ',') or 1234 (decimal: '.'), and nothing " +
        'else in the file decides',
    );
    expect(columnsOf(await parse(text, { decimal: ',' })).x.values).toEqual([1.234, 5.678]);
    expect(columnsOf(await parse(text, { decimal: { x: '.' } })).x.values).toEqual([1234, 5678]);
    expect(columnsOf(await parse('x;z;y\n1,234;0,5;a\n5,678;1;b\n')).x.values).toEqual([1.234, 5.678]);
    expect(columnsOf(await parse('x;z;y\n1,234;0.5;a\n5,678;1;b\n')).x.values).toEqual([1234, 5678]);
    const { result, notes } = await withNotes(() => parse('x;z;y\n1.234;0,5;a\n5.678;1;b\n'));
    expect(columnsOf(result).x.values).toEqual([1234, 5678]);
    expect(notes).toContain('"1.234" of "x" is 1234: other columns have a decimal comma.');
    await expect(parse('x;z;v;y\n1.234;0,5;0.5;a\n5.678;1;1;b\n')).rejects.toThrow('other columns have both');
    await expect(parse('x;y\n1.5;a\n2.5;b\n', { decimal: ',' })).rejects.toThrow('with a decimal comma');
    const whole = columnsOf(await parse('x;rooms;price\n1,5;3;€ 7\n2,5;4;€ 1.200\n', { decimal: ',' }));
    expect([whole.x, whole.rooms, whole.price].map(({ values }) => [...values])).toEqual([
      [1.5, 2.5],
      [3, 4],
      [7, 1200],
    ]);
  });

  it('of times of day keep their form for later tables; other texts with a colon are categories', async () => {
    const { reading } = await parse('x;y\n14:00;a\n9:30;b\n');
    expect(reading).toBeDefined();
    const later = await parse('x;y\n18:15;a\n', reading === undefined ? {} : { reading });
    expect(columnsOf(later).x).toEqual({ type: 'number', values: [18.25] });
    for (const text of ['4:3', '25:00', '12:60', '13:00 PM', '1:02:03:04']) {
      expect(columnsOf(await parse(`x;y\n${text};a\n${text};b\n`)).x.type).toBe('category');
    }
  });

  it('of one wrong spelling are named, also with decimal commas', async () => {
    await expect(parse('x;y\n14:00;a\nnoon;b\n15:30;a\n')).rejects.toThrow('"noon" is not a time of day (14:00');
    await expect(parse('x;y\n1,5;a\n2,x;b\n3,5;a\n')).rejects.toThrow(
      '"2,x" is not a number (finite, with a decimal comma',
    );
  });

  it('that were written in a country are the numbers that were meant', async () => {
    const numbers = fc.array(fc.integer({ min: -99_999_999, max: 99_999_999 }), { minLength: 2, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(numbers, fc.constantFrom('de-DE', 'en-US', 'de-CH', 'fr-FR'), async (hundredths, country) => {
        const written = hundredths.map((own) =>
          (own / 100).toLocaleString(country, { minimumFractionDigits: 2, maximumFractionDigits: 2 }),
        );
        const table = await parse(lines('x;y', ...written.map((text, i) => `${text};c${i % 2}`)));
        expect(columnsOf(table).x.values).toEqual(hundredths.map((own) => own / 100));
      }),
      { seed: 7, numRuns: 200 },
    );
  });

  it.each([
    ['ordinals', ['1st', '2nd', '3rd', '4th']],
    ['letters of a grade', ['5a', '5b', '6a']],
    ['a name with a number', ['Route 66', 'Route 1', 'Route 7']],
  ])('are not %s', async (_, cells) => {
    const { columns } = await parse(lines('x;y', ...cells.map((cell, i) => `${cell};c${i % 2}`)));
    expect(columns[0]).toMatchObject({ type: 'category' });
  });

  it('in several units are asked for, with the cell of another unit', async () => {
    const text = lines('x;y', '12 kg;a', '30 lb;b', '14 kg;a', '9 kg;b');
    await expect(parse(text)).rejects.toThrow('"30 lb" is not a number (finite, with a decimal point and kg');
    const { columns } = await parse(text, { columns: { x: 'category' } });
    expect(columns[0]).toMatchObject({ type: 'category' });
  });
});
