import fc from 'fast-check';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asUtf8 } from '../../../core/text/text-encoding.ts';
import { readingText, tableReadingSchema } from '../../../core/preprocessing/reading.ts';
import { tableBlocks } from '../../../workers/data/tables/table-blocks.ts';
import { parseTable, type ReadTableOptions } from '../../../workers/data/tables/read-table.ts';
import { tableSplits } from '../../../workers/data/tables/table-splits.ts';
import type { Table } from '../../../workers/data/tables/table.ts';

const parse = (text: string | Buffer, options: ReadTableOptions = {}, file = 'd.csv') =>
  parseTable(Buffer.from(text), file, options);
const columnsOf = ({ columns }: Table) =>
  Object.fromEntries(columns.map(({ name, type, values }) => [name, { type, values: [...values] }]));
const lines = (...rows: string[]) => `${rows.join('\n')}\n`;
const dayOf = (date: string) => Date.parse(`${date}T00:00:00Z`) / 86_400_000;

describe('the first line', () => {
  it.each([
    ['numbers above numbers and a text that no class repeats', '0,1,2,y\n5,3,1,a\n6,3,2,b\n5,2,1,a\n6,3,2,b\n', true],
    ['years and a text above numbers', '2019,2020,total\n1,2,3\n4,5,9\n', true],
    ['a class that occurs again', '5.1,3.5,virginica\n4.9,3.0,setosa\n4.7,3.2,virginica\n', false],
    ['fractions, which are no names', '5.1,3.5,c\n4.9,3.0,a\n4.7,3.2,a\n4.8,3.3,b\n4.1,3.3,b\n', false],
    ['numbers alone', '2019,2020\n1,2\n', false],
  ])('is recognised: %s', async (_, text, header) => {
    expect((await parse(text)).reading?.header).toBe(header);
  });

  it.each([
    ['the numbers of pandas', '0,1,2\n1.5,2,3\n4,5,6\n'],
    ['a year beside texts that differ in each row', 'country,2019\nDE,1\nFR,2\n'],
  ])('is asked for where both readings are equally good: %s', async (_, text) => {
    await expect(parse(text)).rejects.toThrow(/may name the columns or be a row of data.*header: true/);
    expect((await parse(text, { header: true })).length).toBe(2);
    expect((await parse(text, { header: false })).length).toBe(3);
  });

  it('may say what separates the fields', async () => {
    const table = await parse('sep=;\r\na;b\r\n1,5;x\r\n2,5;y\r\n');
    expect(columnsOf(table).a).toEqual({ type: 'number', values: [1.5, 2.5] });
    await expect(parse('sep=;\na;b\n1;2\n3;x\n5;6\n')).rejects.toThrow('line 4, column 2 (b): "x"');
    expect((await parse('sep=|\na|b\n1|2\n')).reading?.delimiter).toBe('|');
    await expect(parse('sep=:\na:b\n1:2\n')).rejects.toThrow('sep=: names a delimiter that is not known');
  });
});

describe('comments in front of a table', () => {
  const adult = lines('|1x3 Cross validator', '25, Private, <=50K.', '38, Private, >50K.', '28, ?, >50K.');
  const shape = async (text: string, options: ReadTableOptions = {}) => {
    const { columns, length, reading } = await parse(text, options);
    return { names: columns.map(({ name }) => name), length, comments: reading?.comments };
  };

  it.each([
    ['a bar, without names', adult, ['column 1', 'column 2', 'column 3'], 3, ['|1x3 Cross validator']],
    ['numbers signs', '# from, a, lab\n\n# 5" tubes\nx,y\n1,2\n', ['x', 'y'], 1, ['# from, a, lab', '', '# 5" tubes']],
    ['per cent signs', '% made\r\n%\r\nx;y\r\n1,5;2\r\n', ['x', 'y'], 1, ['% made', '%']],
    ['one column', '# a note\nx\n1\n2\n', ['x'], 2, ['# a note']],
    ['delimiters that a spreadsheet added', '# lab,,\nx,y,z\n1,2,3\n', ['x', 'y', 'z'], 1, ['# lab,,']],
    ['a line sep=', 'sep=;\n# a;b;c\nx;y\n1,5;2\n', ['x', 'y'], 1, ['# a;b;c']],
  ])('are left out and kept: %s', async (_, text, names, length, comments) => {
    expect(await shape(text)).toEqual({ names, length, comments });
  });

  it.each([
    ['names', '#id,x,y\n1,2,3\n4,5,6\n', ['#id', 'x', 'y'], 2],
    ['names before a cell that is missing', '#id,x,y\n1,2,\n4,5,6\n', ['#id', 'x', 'y'], 2],
    ['a single name', '#id\n1\n2\n', ['#id'], 2],
    ['rows', '#f00,1\n#0f0,2\nred,3\n', ['column 1', 'column 2'], 3],
  ])('are not confused with %s', async (_, text, names, length) => {
    const header = names[0] !== 'column 1';
    expect(await shape(text, { header })).toEqual({ names, length, comments: [] });
    expect((await shape(`# a note\n${text}`, { header })).comments).toEqual(['# a note']);
  });

  it('are as many lines as the user says', async () => {
    expect((await shape('Lab, 2026\nx,y\n1,2\n', { commentLines: 1 })).comments).toEqual(['Lab, 2026']);
    await expect(parse('# lab\nx,y\n1,2\n', { commentLines: 0, delimiter: ',' })).rejects.toThrow(
      'line 2: 2 fields, the first line has 1',
    );
    await expect(parse('x,y\n1,2\n', { commentLines: 3 })).rejects.toThrow('commentLines is 3');
  });

  it('do not move the place of what is wrong', async () => {
    await expect(parse('# a\n# b\nx,y\n1,2\n3,4,5\n')).rejects.toThrow('d.csv, line 5: 3 fields');
  });

  it('are told to who reads how the table was understood', async () => {
    const { reading } = await parse(adult);
    expect(reading && readingText(reading)).toContain('no line of names, 1 line of comment left out;');
  });

  it('may be any, and the table below is the same, whole and in pieces', async () => {
    const word = fc.string({ unit: fc.constantFrom('a', '"', ' ', '.', ':', '#'), maxLength: 12 });
    const comment = fc.tuple(fc.constantFrom('#', '%', '|'), word).map(([sign, text]) => sign + text);
    const rows = fc.array(fc.tuple(fc.integer(), fc.integer()), { minLength: 1, maxLength: 8 });
    const end = fc.constantFrom('\n', '\r\n', '\r');
    const property = fc.asyncProperty(
      fc.array(comment),
      rows,
      end,
      fc.integer({ min: 1, max: 40 }),
      async (...drawn) => {
        const [comments, values, lineEnd, blockBytes] = drawn;
        const text = [...comments, 'x,y', ...values.map((row) => row.join(','))].join(lineEnd) + lineEnd;
        const table = await parse(text);
        expect(table.reading?.comments).toEqual(comments.map((line) => line.trim()));
        const columns = { x: values.map(([x]) => x), y: values.map(([, y]) => y) };
        expect({ x: columnsOf(table).x.values, y: columnsOf(table).y.values }).toEqual(columns);
        const file = join(await mkdtemp(join(tmpdir(), 'tutti-')), 'c.csv');
        await writeFile(file, text);
        const read: Record<string, unknown[]> = { x: [], y: [] };
        for await (const block of tableBlocks(file, { types: { x: 'number', y: 'number' }, blockBytes })) {
          for (const { name, values: own } of block.columns) read[name].push(...own);
        }
        expect(read).toEqual(columns);
      },
    );
    await fc.assert(property, { seed: 1994, numRuns: 60 });
  });
});

describe('columns without a name', () => {
  it('that number or name the rows are left out, unless the user gives them a type', async () => {
    const text = ',x,y\n0,1.5,a\n1,2.5,a\n2,0.5,b\n3,1,b\n';
    const { reading, columns } = await parse(text);
    expect(reading?.leftOut).toEqual([{ name: 'column 1', position: 1, reason: 'row-names' }]);
    expect(columns.map(({ name }) => name)).toEqual(['x', 'y']);
    const kept = await parse(text, { columns: { 'column 1': 'number' } });
    expect(kept.columns.map(({ name }) => name)).toEqual(['column 1', 'x', 'y']);
    const shuffled = await parse('Unnamed: 0,x,y\n7,1.5,a\n3,2.5,a\n9,0.5,b\n');
    expect(shuffled.columns.map(({ name }) => name)).toEqual(['x', 'y']);
  });

  it('that have other values stay, and a counter with a name is said', async () => {
    const { columns, reading } = await parse('id,,y\n1,2.5,a\n2,2.5,a\n3,0.5,b\n');
    expect(columns.map(({ name }) => name)).toEqual(['id', 'column 2', 'y']);
    expect(reading?.columns.map(({ countsRows }) => countsRows)).toEqual([true, false, false]);
  });

  it('that are empty are left out, as rows without values are; lines may end in more or fewer delimiters', async () => {
    const text = 'a;b;;\n1;2;;\n3;4\n5;6;;;\n;;;\n7;8;;\n';
    const table = await parse(text);
    expect(columnsOf(table)).toEqual({
      a: { type: 'number', values: [1, 3, 5, 7] },
      b: { type: 'number', values: [2, 4, 6, 8] },
    });
    expect(table.reading).toMatchObject({ emptyRows: 1, leftOut: [{ reason: 'empty' }, { reason: 'empty' }] });
    await expect(parse('a;b\n1;2\n;;\n3;4\n5;x\n7;8\n')).rejects.toThrow('line 5, column 2 (b): "x"');
    await expect(parse('x,y\n0,1,a\n1,2,b\n')).rejects.toThrow("If the first field is the row's name, as R writes it");
  });
});

describe('dates', () => {
  it.each([
    ['31/01/2011', 'DD/MM/YYYY', '2011-01-31'],
    ['01/31/2011', 'MM/DD/YYYY', '2011-01-31'],
    ['31.1.2011', 'DD.MM.YYYY', '2011-01-31'],
    ['2011/01/31', 'YYYY/MM/DD', '2011-01-31'],
    ['31-Jan-2011', 'DD-MMM-YYYY', '2011-01-31'],
    ['31-Jan-11', 'DD-MMM-YY', '2011-01-31'],
    ['31 January 2011', 'DD MMM YYYY', '2011-01-31'],
    ['Mon, 31 Jan 2011 00:00:00 GMT', 'DD MMM YYYY', '2011-01-31'],
    ['"January 31, 2011"', 'MMM DD, YYYY', '2011-01-31'],
    ['Sept. 30 2011', 'MMM DD, YYYY', '2011-09-30'],
    ['2011-03', 'YYYY-MM', '2011-03-01'],
    ['03/2011', 'MM/YYYY', '2011-03-01'],
    ['Mar 2011', 'MMM YYYY', '2011-03-01'],
    ['Mar-11', 'MMM-YY', '2011-03-01'],
  ])('%s are read as %s', async (text, format, date) => {
    const { columns, reading } = await parse(`when;y\n${text};1\n`);
    expect(columns[0]).toMatchObject({ type: 'date', values: Float64Array.of(dayOf(date)) });
    expect(reading?.columns[0].dateFormat).toBe(format);
  });

  it.each(['2011Q1', '2011-W05', 'Q3/2011', '15. Januar 2011', '3 de mayo de 2011', 'août 2011'])(
    'in a form that is not read become no categories: %s',
    async (text) => {
      await expect(parse(`when;y\n${text};1\n${text};2\n`)).rejects.toThrow('is not a date (2026-01-31');
    },
  );

  it.each(['model 2011', 'Summer 2011', 'marble 7', '2020-21', 'May', 'mai 7'])('are not %s', async (text) => {
    expect((await parse(`what;y\n${text};1\n${text};2\n`)).columns[0].type).toBe('category');
  });

  it('of digits alone are days where all are', async () => {
    const { columns, reading } = await parse('when;n;y\n20110131;20110131;a\n20110201;20110231;b\n20110302;7;a\n');
    expect(reading?.columns[0].dateFormat).toBe('YYYYMMDD');
    expect(columns[0].values).toEqual(Float64Array.of(...['2011-01-31', '2011-02-01', '2011-03-02'].map(dayOf)));
    expect(columns[1].type).toBe('number');
    const json = [20_110_131, 20_110_201, 20_110_302].map((when) => JSON.stringify({ when })).join('\n');
    const inJson = await parse(json, {}, 'd.jsonl');
    expect(inJson.columns[0].values).toEqual(columns[0].values);
  });

  it('with a time, of half a day too', async () => {
    const { columns } = await parse('when,y\n31/01/2011 06:00,1\n31/01/2011 06:00 PM,2\n');
    expect(columns[0].values).toEqual(Float64Array.of(dayOf('2011-01-31') + 0.25, dayOf('2011-01-31') + 0.75));
  });

  it('that can be read in two ways are asked for', async () => {
    const text = 'when,y\n01/01/2021,1\n03/04/2021,2\n';
    await expect(parse(text)).rejects.toThrow(
      'd.csv, line 3, column 1 (when): "03/04/2021" is 3 April 2021 (DD/MM/YYYY) or 4 March 2021 (MM/DD/YYYY)',
    );
    const { columns } = await parse(text, { dateFormat: { when: 'MM/DD/YYYY' } });
    expect(columns[0].values).toEqual(Float64Array.of(dayOf('2021-01-01'), dayOf('2021-03-04')));
    expect((await parse(text, { columns: { when: 'category' } })).columns[0].type).toBe('category');
  });

  it('of one wrong spelling are named', async () => {
    await expect(parse('when,y\n31/01/2011,1\nsoon,2\n28/02/2011,3\n')).rejects.toThrow(
      '"soon" is not a date (DD/MM/YYYY',
    );
  });
});

describe('all columns that cannot be read', () => {
  it('are named in one message', async () => {
    const text = 'price;when;size\n1,234;03/04/2021;1\n5,678;05/06/2021;2\n1,111;01/02/2021;x\n';
    await expect(parse(text)).rejects.toThrow(/3 columns cannot be read[^]*- .*price[^]*- .*when[^]*- .*size/);
  });

  it('so are columns whose missing values nothing replaces, with the texts that counted as missing', async () => {
    const table = await parse('country,x,y\nNA,1,a\nDE,2,b\nFR,,a\nNA,4,b\n');
    const split = () => tableSplits(table, { seed: 1, target: 'y' });
    expect(split).toThrow(
      /2 columns cannot be used as they are[^]*"country"[^]*"NA" \(2 cells\) counts as missing: where it is a value/,
    );
    expect(split).toThrow(/missingValues: \['', 'N\/A'/);
    const classes = await parse('x,y\n1,None\n2,Mild\n3,None\n4,Mild\n');
    expect(() => tableSplits(classes, { seed: 1, target: 'y', missing: 'impute' })).toThrow(
      '"None" (2 cells) counts as missing: where it is a value, read the table with missingValues',
    );
  });
});

describe('bytes', () => {
  const cities = 'city,x,y\nZürich,1,a\nBern,2,b\n';

  it('are UTF-16 where a mark says so, and another encoding where the user does', async () => {
    const utf16 = Buffer.from(`\uFEFF${cities}`, 'utf16le');
    for (const bytes of [utf16, Buffer.from(utf16).swap16(), Buffer.from(`\uFEFF${cities}`)]) {
      expect(columnsOf(await parse(bytes)).city.values).toEqual(['Zürich', 'Bern']);
    }
    const windows = Buffer.from(cities, 'latin1');
    expect(columnsOf(await parse(windows, { encoding: 'windows-1252' })).city.values).toEqual(['Zürich', 'Bern']);
    await expect(parse(windows, { encoding: 'windows-9' })).rejects.toThrow('encoding "windows-9" is not known');
  });

  it.each([
    ['Windows-1252', Buffer.from(cities, 'latin1'), 'd.csv, line 2: byte 2 of the line is 0xFC, which is not UTF-8'],
    ['a character that is cut off', Buffer.from(cities).subarray(0, 11), 'd.csv, line 2: byte 2 of the line is 0xC3'],
    ['UTF-16 without a mark', Buffer.from(cities, 'utf16le'), 'd.csv, line 1: byte 2 of the line is 0, as in UTF-16'],
  ])('are refused where they are no UTF-8: %s', async (_, bytes, message) => {
    await expect(parse(bytes)).rejects.toThrow(message);
    await expect(parse(bytes, {}, 'd.jsonl')).rejects.toThrow(message.replace('d.csv', 'd.jsonl'));
  });

  it('that are wrong are found at any place', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '\n', 'é', '€', '😀') });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const start = Buffer.from(before);
        const bytes = Buffer.concat([start, Buffer.of(0xff), Buffer.from(after)]);
        const line = before.split('\n').length;
        const position = start.length - start.lastIndexOf(10);
        expect(() => asUtf8(bytes, 'f')).toThrow(`f, line ${line}: byte ${position} of the line is 0xFF`);
      }),
      { seed: 3, numRuns: 500 },
    );
  });
});

describe('a later file', () => {
  async function blocksLike(
    training: Table,
    bytes: string | Buffer,
    types: Parameters<typeof tableBlocks>[1]['types'],
    blockBytes = 2 ** 20,
  ) {
    const file = join(await mkdtemp(join(tmpdir(), 'tutti-reading-')), 'new.csv');
    await writeFile(file, bytes);
    const values: Record<string, unknown[]> = {};
    for await (const table of tableBlocks(file, { types, reading: training.reading ?? null, blockBytes })) {
      for (const column of table.columns) (values[column.name] ??= []).push(...column.values);
    }
    return values;
  }

  it.each<[string, string | Buffer, ReadTableOptions]>([
    ['texts that count as missing', 'a,b\n-999,1\n3,2\n4,5\n', { missingValues: ['', '-999'] }],
    ['decimal commas', 'a;b\n28,7;1\n3;2,5\n', {}],
    ['thousands', 'a;b\n1,234;1\n3;2.5\n', { decimal: '.' }],
    ['dates', 'a,b\n03/04/2021,1\n', { dateFormat: 'DD/MM/YYYY' }],
    ['a header of numbers', '0,1\n5,6\n7,8\n', { header: true }],
    ['no header', '5,6\n7,8\n', { header: false }],
    ['an encoding', Buffer.from('a,b\nZürich,1\nGenève,2\n', 'latin1'), { encoding: 'windows-1252' }],
    ['UTF-16', Buffer.from('\uFEFFa\tb\nZürich\t1\nGenève\t2\n', 'utf16le'), {}],
    ['sep=', 'sep=;\na;b\n1,5;2\n', {}],
    ['empty columns and rows', 'a;b;;\n1,5;2;;\n;;;\n2,5;3;;\n', {}],
    ['a delimiter', 'a|b\n1|2\n', { delimiter: '|' }],
    ['comments', '# a "note\n#\na,b\n1,2\n', {}],
    ['a title', 'Lab, 2026\na,b\n1,2\n', { commentLines: 1 }],
  ])('is read as the training table was, in pieces too: %s', async (_, bytes, options) => {
    const training = await parse(bytes, options);
    const types = Object.fromEntries(training.columns.map(({ name, type }) => [name, type]));
    const expected = Object.fromEntries(training.columns.map(({ name, values }) => [name, [...values]]));
    for (const blockBytes of [1, 7, 2 ** 20]) {
      expect(await blocksLike(training, bytes, types, blockBytes)).toEqual(expected);
    }
    expect(await blocksLike(training, bytes, null)).toEqual(expected);
    const whole = await parse(bytes, { reading: training.reading });
    expect(whole.columns).toEqual(training.columns);
  });

  it('may be UTF-8 after a training table in another encoding', async () => {
    const trainings = [
      await parse(Buffer.from('größe,ort\n1,Zürich\n2,Bern\n', 'latin1'), { encoding: 'windows-1252' }),
      await parse(Buffer.from('größe,ort\n1,Zürich\n2,Bern\n', 'utf16le'), { encoding: 'utf-16le' }),
    ];
    const later = 'größe,ort\n3,Zürich\n';
    for (const training of trainings) {
      for (const blockBytes of [1, 7, 2 ** 20]) {
        const values = await blocksLike(training, later, { größe: 'number', ort: 'category' }, blockBytes);
        expect(values).toEqual({ größe: [3], ort: ['Zürich'] });
      }
      const whole = await parse(later, { reading: training.reading });
      expect(columnsOf(whole).ort.values).toEqual(['Zürich']);
    }
  });

  it('has comments of its own, which may have as many fields as the names', async () => {
    const training = await parse('a,b\n1,x\n2,y\n');
    const wanted = { a: 'number', b: 'category' } as const;
    expect(await blocksLike(training, '# Lab, 2026\na,b\n3,x\n', wanted)).toEqual({ a: [3], b: ['x'] });
    const nameless = await parse('1,2,x\n2,3,y\n3,4,x\n', { header: false });
    const columns = { 'column 1': 'number', 'column 3': 'category' } as const;
    expect(await blocksLike(nameless, '|1x3 Cross validator\n4,5,x.\n', columns)).toEqual({
      'column 1': [4],
      'column 3': ['x.'],
    });
  });

  it('may be separated by something else, lack the counter of the rows, and have the columns in another order', async () => {
    const training = await parse(',x,y\n0,1.5,a\n1,2.5,b\n2,3,b\n');
    const wanted = { x: 'number', y: 'category' } as const;
    expect(await blocksLike(training, 'y;x\nb;1\n', wanted)).toEqual({ x: [1], y: ['b'] });
  });

  it('has the same categories in any case of letters where the training table has', async () => {
    const text = 'answer,y\nYes,1\nyes,2\nCafe\u0301,3\ncafé,4\n';
    const categories = async (...options: [ReadTableOptions?]) => (await parse(text, ...options)).columns[0].values;
    expect(await categories()).toEqual(['Yes', 'yes', 'Cafe\u0301', 'café']);
    const folded = ['yes', 'yes', 'café', 'café'];
    const { reading } = await parse(text, { ignoreCase: ['answer'] });
    expect(reading?.columns[0]).toMatchObject({ distinct: 2, ignoresCase: true });
    expect(await categories({ ignoreCase: ['answer'] })).toEqual(folded);
    expect(await categories(reading && { reading })).toEqual(folded);
    await expect(parse(text, { ignoreCase: ['answers'] })).rejects.toThrow('has no column "answers"');
  });

  it('has the same categories for 1, 1.0 and "1", and for True and true, but not for 01', async () => {
    const training = await parse('zip,flag,code\n1,True,01\n2,False,1\n', {
      columns: { zip: 'category', flag: 'category', code: 'category' },
    });
    const types = { zip: 'category', flag: 'category', code: 'category' } as const;
    expect(columnsOf(training).code.values).toEqual(['01', '1']);
    expect(await blocksLike(training, 'zip,flag,code\n1.0,true,1.0\n,TRUE,01\n', types)).toEqual({
      zip: ['1', null],
      flag: ['true', 'true'],
      code: ['1', '01'],
    });
  });
});

describe('the description of a reading', () => {
  it('says what is worth a look, and follows its schema', async () => {
    const text = ',country,price,when,x\n0,NA,"1,5",31/01/2011,1\n1,DE,"2,5",28/02/2011,2\n2,FR,"3,5",01/03/2011,9\n';
    const { reading } = await parse(text);
    if (reading === undefined) throw new Error('there is no reading');
    expect(tableReadingSchema.parse(JSON.parse(JSON.stringify(reading)))).toEqual(reading);
    expect(readingText(reading).split('\n')).toEqual([
      'd.csv: 3 rows, UTF-8, separated by commas, names in the first line; 2 numbers, 1 category, 1 date.',
      '  "column 1"  left out: no name, and another value in each row',
      '  "country"   category, 2 values                                missing: 1 ("NA" 1)',
      '  "price"     number, decimal comma',
      '  "when"      date, DD/MM/YYYY',
      `  Where "NA" is a value, read the table with missingValues: ['', 'N/A', 'NaN', 'nan', ` +
        `'null', 'NULL', 'None', '?'].`,
    ]);
  });

  it('names the option where texts that count as missing may be names, and the user has not decided', async () => {
    const last = async (...of: Parameters<typeof parse>) => {
      const { reading } = await parse(...of);
      return reading && readingText(reading).split('\n').at(-1);
    };
    expect(await last('x,grade\n1,None\n2,Mild\n3,?\n')).toBe(
      `  Where "None", "?" is a value, read the table with missingValues: ['', 'NA', 'N/A', ` +
        `'NaN', 'nan', 'null', 'NULL'].`,
    );
    // Among numbers, and of empty cells, there is no doubt.
    expect(await last('x,y\n1,2\nNA,3\n5,?\n')).toContain('"y"');
    expect(await last('x,grade\n1,\n2,Mild\n')).toContain('missing: 1 (empty 1)');
    const missingValues = ['', 'NA'];
    expect(await last('x,grade\n1,NA\n2,Mild\n', { missingValues })).toContain('missing: 1 ("NA" 1)');
  });
});
