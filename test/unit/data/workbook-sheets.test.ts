import { describe, expect, it } from 'vitest';
import { parseTable, readTable, type ReadTableOptions } from '../../../workers/data/tables/read-table.ts';
import { tableBlocks } from '../../../workers/data/tables/table-blocks.ts';
import {
  calculated,
  type CellContent,
  dated,
  sheetBytes,
  type SheetContent,
  workbookBytes,
  type WorkbookContent,
} from './workbook-bytes.ts';
import { about, columnsOf, daysTo, fileOf, profileOf } from './workbook-tables.ts';

describe('which cells are the table', () => {
  const table: CellContent[][] = [
    ['x', 'y'],
    [1, 'a'],
    [2, 'b'],
  ];
  const small: unknown[] = [
    ['x', 'number', [1, 2]],
    ['y', 'category', ['a', 'b']],
  ];
  const two: WorkbookContent = {
    sheets: [
      {
        name: 'about',
        rows: [
          ['made', 'by'],
          ['me', 'too'],
        ],
      },
      { name: 'the data', rows: table },
      { name: 'empty', rows: [] },
    ],
  };

  it('the only sheet with values is read', async () => {
    const [, own, empty] = two.sheets;
    const { columns, reading } = await parseTable(await workbookBytes({ sheets: [empty, own] }), 'd.xlsx');
    expect(columns.length).toBe(2);
    expect(reading).toMatchObject({ sheet: 'the data', range: null, header: true, encoding: null, delimiter: null });
  });

  it.each<[how: string, options: ReadTableOptions]>([
    ['its name', { sheet: 'the data' }],
    ['its position', { sheet: 2 }],
    ['its position as a text', { sheet: '2' }],
  ])('a sheet is named by %s', async (_, options) => {
    expect(await columnsOf(await workbookBytes(two), options)).toEqual(small);
  });

  it('the name of a sheet goes before a position', async () => {
    const [other, own] = two.sheets;
    const bytes = await workbookBytes({ sheets: [{ ...own, name: '2' }, other] });
    expect(await columnsOf(bytes, { sheet: '2' })).toEqual(small);
  });

  it('several sheets with values are a question', async () => {
    const bytes = await workbookBytes(two);
    await expect(parseTable(bytes, 'd.xlsx')).rejects.toThrow(
      'd.xlsx has 2 sheets with values: "the data", "about". A table is in one of them. Say which: ' +
        "readTable(file, { sheet: 'the data' }).",
    );
    expect(about(await profileOf(bytes), 'sheet')).toEqual([
      expect.objectContaining({ level: 'question', choices: ['the data', 'about'], option: "sheet: 'the data'" }),
    ]);
    expect(about(await profileOf(bytes, { sheet: 'the data' }), 'sheet')).toEqual([]);
  });

  it('a hidden sheet is not read, which is said, unless the user names it', async () => {
    const [other, own] = two.sheets;
    const bytes = await workbookBytes({ sheets: [{ ...other, state: 'veryHidden' }, own] });
    const profile = await profileOf(bytes);
    expect(profile.reading.sheet).toBe('the data');
    expect(about(profile, 'sheet')).toEqual([
      expect.objectContaining({ level: 'note', message: 'Hidden, and not read: sheet "about".' }),
    ]);
    expect((await profileOf(bytes, { sheet: 'about' })).reading.sheet).toBe('about');
  });

  const around: CellContent[][] = [
    ['Report of May', null, null],
    [],
    ['x', 'y', null],
    [1, 'a', null],
    [2, 'b', 'see below'],
    [null, null, null],
    [3, 'c', null],
  ];

  it.each<[range: string, rows: number, columns: string[]]>([
    ['A3:B5', 2, ['x', 'y']],
    ['a3:b', 3, ['x', 'y']],
    ['$A$3:$A$7', 3, ['x']],
    ['B3:B', 3, ['y']],
  ])('the range %s has %i rows', async (range, length, names) => {
    const read = await parseTable(await sheetBytes(around), 'd.xlsx', { range });
    expect([read.length, read.columns.map(({ name }) => name), read.reading?.range]).toEqual([length, names, range]);
  });

  it('a title above and a note beside a table are a question, which a range answers', async () => {
    const bytes = await sheetBytes(around);
    await expect(parseTable(bytes, 'd.xlsx')).rejects.toThrow(
      'd.xlsx, sheet "data", row 3: B3 has a value, but row 1, the first one, ends in column A.',
    );
    const profile = await profileOf(bytes);
    expect(about(profile, 'range')).toEqual([
      expect.objectContaining({ level: 'question', choices: ['A3:B', 'A1:C'], option: "range: 'A3:B'" }),
    ]);
    expect(profile.columns.map(({ name, type }) => [name, type])).toEqual([
      ['x', 'number'],
      ['y', 'category'],
    ]);
    expect(profile.reading).toMatchObject({ range: 'A3:B', rows: 3, emptyRows: 1 });
    for await (const { emptyRows, rowNumbers } of tableBlocks(await fileOf(bytes), {
      types: null,
      reading: profile.reading,
    })) {
      expect([emptyRows, [...(rowNumbers ?? [])]]).toEqual([1, [0, 1, 3]]);
    }
    expect(about(await profileOf(bytes, { range: 'A3:B' }), 'range')).toEqual([]);
  });

  it('places in messages are those of the spreadsheet', async () => {
    const bytes = await sheetBytes([['Title'], [], [null, 'x'], [null, 1], [null, 2], [null, 'no']]);
    await expect(parseTable(bytes, 'd.xlsx', { range: 'B3:B' })).rejects.toThrow(
      'd.xlsx, sheet "data", row 6, column B (x)',
    );
  });

  it('a table without names', async () => {
    const bytes = await sheetBytes(table.slice(1));
    expect(await columnsOf(bytes, { header: false })).toEqual([
      ['column 1', 'number', [1, 2]],
      ['column 2', 'category', ['a', 'b']],
    ]);
  });

  it.each(['A:1', 'B2:A1', 'A0:B2', 'A1:XFE9', 'A1:B1048577', 'Sheet1!A1:B2', ''])('%j is no range', async (range) => {
    await expect(parseTable(await sheetBytes(table), 'd.xlsx', { range })).rejects.toThrow(
      `d.xlsx: ${JSON.stringify(range)} is no range of cells. Write A1:D20, or A1:D for all rows below A1.`,
    );
  });

  it('a workbook without the sheet is refused', async () => {
    await expect(parseTable(await workbookBytes(two), 'd.xlsx', { sheet: 'x' })).rejects.toThrow(
      'd.xlsx has no sheet "x". Its sheets are "about", "the data", "empty".',
    );
  });
});

describe('what a sheet hides or joins is read, and said:', () => {
  const rows: CellContent[][] = [
    ['group', 'x', 'y'],
    ['a', 1, 5],
    [null, 2, 6],
    ['b', calculated('B2+B3', 3), 7],
    ['b', 4, 8],
  ];
  const sheet: Partial<SheetContent> = {
    hiddenRows: [3, 5],
    before: '<cols><col min="2" max="3" hidden="1"/></cols>',
    after: '<mergeCells count="1"><mergeCell ref="A2:A3"/></mergeCells>',
  };

  it('values', async () => {
    expect(await columnsOf(await sheetBytes(rows, sheet))).toEqual([
      ['group', 'category', ['a', 'a', 'b', 'b']],
      ['x', 'number', [1, 2, 3, 4]],
      ['y', 'number', [5, 6, 7, 8]],
    ]);
  });

  it('findings', async () => {
    const profile = await profileOf(await sheetBytes(rows, sheet));
    expect([...about(profile, 'hidden'), ...about(profile, 'merged'), ...about(profile, 'formulas')]).toEqual([
      {
        level: 'warning',
        kind: 'hidden',
        column: null,
        message: 'Hidden in the workbook, perhaps by a filter, and read as well: 2 rows.',
        choices: null,
        option: null,
      },
      {
        level: 'warning',
        kind: 'hidden',
        column: null,
        message: 'Hidden in the workbook, and read as well: column "x", "y".',
        choices: null,
        option: "columns: { x: 'ignore', y: 'ignore' }",
      },
      {
        level: 'note',
        kind: 'merged',
        column: null,
        message: 'Filled with the value of the cell with which they are merged: 1 cell.',
        choices: null,
        option: null,
      },
      {
        level: 'note',
        kind: 'formulas',
        column: null,
        message: 'Formulas, of which the stored result is read: 1 cell.',
        choices: null,
        option: null,
      },
    ]);
  });

  it('a merged name names its first column', async () => {
    const merged = '<mergeCells><mergeCell ref="A1:B1"/></mergeCells>';
    const bytes = await sheetBytes(
      [
        ['size', null, 'y'],
        [1, 2, 3],
        [4, 5, 6],
      ],
      { after: merged },
    );
    expect((await parseTable(bytes, 'd.xlsx')).columns.map(({ name }) => name)).toEqual(['size', 'column 2', 'y']);
  });
});

describe('later files are read as the training table was:', () => {
  const rows = (start: number): CellContent[][] => [
    ['x', 'day'],
    ...Array.from({ length: 3 }, (_, i) => [start + i, dated(45_292 + i)]),
  ];
  const sheets: SheetContent[] = [
    { name: 'notes', rows: [['by', 'me']] },
    { name: 'May', rows: [['Values'], ...rows(1)] },
  ];
  const trained = async () => {
    const { reading } = await parseTable(await workbookBytes({ sheets }), 'd.xlsx', { sheet: 'May', range: 'A2:B5' });
    return reading;
  };

  it('the same sheet and the same range, with all rows below it', async () => {
    const reading = await trained();
    expect(reading).toMatchObject({ sheet: 'May', range: 'A2:B5', rows: 3 });
    const [notes, may] = sheets;
    const longer = { ...may, rows: [...may.rows, [9, dated(45_300)]] };
    const file = await fileOf(await workbookBytes({ sheets: [longer, notes] }));
    const { columns } = await readTable(file, { reading });
    expect(columns.map(({ values }) => [...values])).toEqual([
      [1, 2, 3, 9],
      [1, 2, 3, 9].map((day) => daysTo(2024, 0, day)),
    ]);
    for await (const block of tableBlocks(file, { types: { x: 'number' }, reading: reading ?? null })) {
      expect([...block.columns[0].values]).toEqual([1, 2, 3, 9]);
    }
  });

  it('another sheet, where it is the only one with values', async () => {
    const reading = await trained();
    const [notes, may] = sheets;
    const june = { ...may, name: 'June' };
    const { length } = await parseTable(await workbookBytes({ sheets: [june] }), 'd.xlsx', { reading });
    expect(length).toBe(3);
    await expect(parseTable(await workbookBytes({ sheets: [notes, june] }), 'd.xlsx', { reading })).rejects.toThrow(
      'd.xlsx has the sheets "notes", "June". Give one of them alone, or call the table\'s "May", as in training.',
    );
  });

  it('text for a table of a workbook, and a workbook for a table of text', async () => {
    const reading = (await parseTable(await sheetBytes(rows(1)), 'd.xlsx')).reading;
    const text = Buffer.from('x,day\n5,2024-01-02\n');
    expect((await parseTable(text, 'd.csv', { reading })).columns.map(({ values }) => [...values])).toEqual([
      [5],
      [daysTo(2024, 0, 2)],
    ]);
    const german = (await parseTable(Buffer.from('x;day\n1,5;01.02.2024\n2,5;13.02.2024\n'), 'd.csv')).reading;
    const { columns } = await parseTable(await sheetBytes(rows(0.5)), 'd.xlsx', { reading: german });
    expect(columns.map(({ values }) => values[0])).toEqual([0.5, daysTo(2024, 0, 1)]);
  });
});
