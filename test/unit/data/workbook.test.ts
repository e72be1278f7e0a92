import { describe, expect, it } from 'vitest';
import { profileTable } from '../../../workers/data/tables/profile-table.ts';
import { parseTable, readTable } from '../../../workers/data/tables/read-table.ts';
import { tableBlocks } from '../../../workers/data/tables/table-blocks.ts';
import { openZip } from '../../../workers/data/tables/unpack.ts';
import { dateOfSerial, showsDate } from '../../../workers/data/tables/workbook-parts.ts';
import {
  calculated,
  type CellContent,
  clockStyle,
  dated,
  failed,
  momentStyle,
  sheetBytes,
  workbookBytes,
} from './workbook-bytes.ts';
import { about, columnsOf, daysTo, fileOf, profileOf } from './workbook-tables.ts';

describe('cells of a workbook are read by their type:', () => {
  const xml = (type: string, content: string) => (place: string) => `<c r="${place}" t="${type}">${content}</c>`;
  it.each<[kind: string, cell: CellContent, read: unknown]>([
    ['a shared text', 'a < b & "c"', 'a < b & "c"'],
    ['an inline text', xml('inlineStr', '<is><t>x</t></is>'), 'x'],
    ['runs of several fonts', xml('inlineStr', '<is><r><t>H</t></r><r><rPr/><t>2O</t></r></is>'), 'H2O'],
    [
      'a reading aid, which is left out',
      xml('inlineStr', '<is><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></is>'),
      '東京',
    ],
    ['a character that XML cannot hold', xml('inlineStr', '<is><t>a_x000A_b</t></is>'), 'a\nb'],
    ['characters by number', xml('inlineStr', '<is><t>&#233;&#x20AC;</t></is>'), 'é€'],
    ['CDATA', xml('inlineStr', '<is><t><![CDATA[a<b]]></t></is>'), 'a<b'],
    ['the text of a formula', xml('str', '<f>A1&amp;"x"</f><v>y</v>'), 'y'],
    ['a text that looks like a number', 'x7', 'x7'],
  ])('%s', async (_, cell, read) => {
    expect(await columnsOf(await sheetBytes([['t'], [cell], ['z']]))).toEqual([['t', 'category', [read, 'z']]]);
  });

  it.each<[kind: string, cell: CellContent, read: number]>([
    ['a number', 2.5, 2.5],
    ['all digits of a number', (place) => `<c r="${place}"><v>0.10000000000000001</v></c>`, 0.1],
    ['an exponent', (place) => `<c r="${place}" t="n"><v>1.5E-3</v></c>`, 0.0015],
    ['the result of a formula', calculated('A2*2', 14), 14],
    ['a time without a day, in days', dated(0.75, clockStyle), 0.75],
    ['a text', '3.5', 3.5],
  ])('%s', async (_, cell, read) => {
    expect(await columnsOf(await sheetBytes([['t'], [cell], [7]]))).toEqual([['t', 'number', [read, 7]]]);
  });

  it('truth values', async () => {
    expect(await columnsOf(await sheetBytes([['t'], [true], [false]]))).toEqual([['t', 'boolean', [1, 0]]]);
  });

  it('cells without places stand behind each other', async () => {
    const cell = (value: string) => () => `<c t="str"><v>${value}</v></c>`;
    const bytes = await sheetBytes([
      ['t', 'u'],
      [cell('a'), cell('b')],
    ]);
    expect(await columnsOf(bytes)).toEqual([
      ['t', 'category', ['a']],
      ['u', 'category', ['b']],
    ]);
  });
});

describe('dates', () => {
  // Excel shows 1 as 1900-01-01, 59 as 1900-02-28 and 61 as 1900-03-01; 25569 is 1970-01-01 in every spreadsheet.
  it.each<[serial: number, isFrom1904: boolean, date: string | null]>([
    [1, false, '1900-01-01'],
    [59, false, '1900-02-28'],
    [60, false, '1900-02-29'],
    [60.5, false, '1900-02-29'],
    [61, false, '1900-03-01'],
    [25_569, false, '1970-01-01'],
    [45_292, false, '2024-01-01'],
    [45_292.5, false, '2024-01-01T12:00:00'],
    [45_292 + 1 / 86_400, false, '2024-01-01T00:00:01'],
    [0.5, false, null],
    [-1, false, null],
    [2_958_465, false, '9999-12-31'],
    [2_958_466, false, null],
    [0, true, '1904-01-01'],
    [24_107, true, '1970-01-01'],
    [-1, true, null],
    [Number.NaN, true, null],
  ])('%f (from 1904: %s) is %s', (serial, isFrom1904, date) => {
    expect(dateOfSerial(serial, isFrom1904)).toBe(date);
  });

  it.each<[code: string, shows: boolean]>([
    ['General', false],
    ['0.00E+00', false],
    ['#,##0.00 [$€-407]', false],
    ['"day" 0', false],
    ['[Red]0;[Blue]-0', false],
    ['h:mm AM/PM', false],
    ['[h]:mm:ss', false],
    ['mm:ss', false],
    ['m/d/yyyy', true],
    ['[$-409]d\\-mmm\\-yy;@', true],
    ['mmm yy', true],
    ['yyyy-mm-dd hh:mm', true],
    ['mmmm', true],
  ])('the format %s shows a date: %s', (code, shows) => {
    expect(showsDate(code)).toBe(shows);
  });

  it('are those of the number format, in both systems', async () => {
    const rows = [['t'], [dated(24_107)], [dated(25_569.25, momentStyle)]];
    const [old, usual] = await Promise.all(
      [true, false].map(async (isFrom1904) => workbookBytes({ sheets: [{ name: 's', rows }], isFrom1904 })),
    );
    expect(await columnsOf(old)).toEqual([['t', 'date', [0, daysTo(1974, 0, 2) + 0.25]]]);
    expect(await columnsOf(usual)).toEqual([['t', 'date', [daysTo(1965, 11, 31), 0.25]]]);
  });
});

describe('what is no value counts as missing:', () => {
  const rows: CellContent[][] = [
    ['x', 'y'],
    [1, 'a'],
    [failed('#DIV/0!'), failed('#N/A')],
    [null, 'b'],
    [-999, 'NA'],
    [failed('#N/A'), 'a'],
  ];
  const missingValues = ['', 'NA', '-999'];

  it('errors, absent cells, and the texts and numbers that the user names', async () => {
    const { columns, reading } = await parseTable(await sheetBytes(rows), 'd.xlsx', { missingValues });
    expect(columns.map(({ values }) => [...values])).toEqual([
      [1, Number.NaN, Number.NaN, Number.NaN, Number.NaN],
      ['a', null, 'b', null, 'a'],
    ]);
    expect(reading?.columns.map(({ missing }) => missing)).toEqual([
      { '#DIV/0!': 1, '': 1, '-999': 1, '#N/A': 1 },
      { '#N/A': 1, NA: 1 },
    ]);
  });

  it('errors are said', async () => {
    const profile = await profileOf(await sheetBytes(rows));
    expect(about(profile, 'cell-errors')).toEqual([
      expect.objectContaining({
        level: 'warning',
        message: "Errors of the workbook's formulas, which count as missing: #DIV/0! 1, #N/A 2.",
      }),
    ]);
  });
});

describe('refuses, and names the remedy for', () => {
  const ole = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(600)]);
  const usual = [['x'], [1], [2]];
  const rowXml = (xml: string) =>
    workbookBytes({ sheets: [{ name: 's', rows: [] }], parts: { 'xl/worksheets/sheet1.xml': sheetOf(xml) } });
  const sheetOf = (xml: string) => `<worksheet><sheetData>${xml}</sheetData></worksheet>`;
  const withPart = (name: string, xml: string | null) =>
    workbookBytes({ sheets: [{ name: 's', rows: usual }], parts: { [name]: xml } });
  it.each<[what: string, make: () => Buffer | Promise<Buffer>, message: string]>([
    ['the old format', () => ole, 'd.xlsx is a workbook in the old format (.xls). Open it, and save it as .xlsx.'],
    [
      'a password',
      () => Buffer.concat([ole, Buffer.from('EncryptedPackage', 'utf16le')]),
      'd.xlsx is protected by a password. Open it, and save a copy without one.',
    ],
    [
      'a binary workbook',
      () => withPart('_rels/.rels', '<R><Relationship Id="a" Type="x/officeDocument" Target="xl/workbook.bin"/></R>'),
      'd.xlsx is a binary workbook (.xlsb). Save it as .xlsx.',
    ],
    ['another archive', () => withPart('_rels/.rels', null), 'is a ZIP archive, but no workbook'],
    ['what is no archive', () => Buffer.from('x,y\n1,2\n'), 'd.xlsx is no ZIP, or not whole'],
    ['an absent sheet', () => withPart('xl/worksheets/sheet1.xml', null), 'd.xlsx has no xl/worksheets/sheet1.xml'],
    ['absent texts', () => withPart('xl/sharedStrings.xml', null), 'd.xlsx has no xl/sharedStrings.xml'],
    [
      'entities of its own',
      () => withPart('xl/sharedStrings.xml', '<!DOCTYPE s [<!ENTITY a "aaaa">]><sst><si><t>&a;</t></si></sst>'),
      'd.xlsx: xl/sharedStrings.xml is not the XML of a workbook: it has <!DOCTYPE s',
    ],
    [
      'XML that was cut',
      () => withPart('xl/sharedStrings.xml', '<sst><si><t>a'),
      'd.xlsx: xl/sharedStrings.xml is not the XML of a workbook: unexpected end of file',
    ],
    [
      'a text that is not there',
      () => rowXml('<row r="1"><c r="A1" t="s"><v>4000000000</v></c></row>'),
      'd.xlsx, sheet "s", cell A1 points to text "4000000000" of the workbook, which has 0 texts.',
    ],
    [
      'a row beyond the last one',
      () => rowXml('<row r="4000000000"><c r="A4000000000"><v>1</v></c></row>'),
      'row 4000000000 comes after row 0',
    ],
    [
      'a cell of another row',
      () => rowXml('<row r="1"><c r="A4000000000"><v>1</v></c></row>'),
      '"A4000000000" is no place of a cell of this row',
    ],
    [
      'a column beyond the last one',
      () => rowXml('<row r="1"><c r="XFE1"><v>1</v></c></row>'),
      '"XFE1" is no place of a cell',
    ],
    ['rows in no order', () => rowXml('<row r="2"/><row r="1"/>'), 'row 1 comes after row 2'],
    [
      'no number',
      () => rowXml('<row r="1"><c r="A1"><v>one</v></c></row>'),
      'cell A1 holds "one" in place of a number',
    ],
    [
      'a formula without its result',
      () => rowXml('<row r="1"><c r="A1"><f>B1</f></c></row>'),
      'd.xlsx, sheet "s", cell A1 has a formula without its result. Open the workbook in a spreadsheet program',
    ],
    ['a sheet without values', () => sheetBytes([]), 'd.xlsx has no rows of data'],
    ['a workbook without sheets', () => workbookBytes({ sheets: [] }), 'd.xlsx has no sheet of cells'],
    [
      'merged cells that overlap',
      () =>
        sheetBytes([['x'], ...Array.from({ length: 200 }, () => [1])], {
          after: `<mergeCells>${'<mergeCell ref="A2:XFD1048576"/>'.repeat(50)}</mergeCells>`,
        }),
      'd.xlsx, sheet "data": merged cells overlap',
    ],
  ])('%s', async (_, make, message) => {
    await expect(parseTable(await make(), 'd.xlsx')).rejects.toThrow(message);
  });

  it('few cells that stand far apart', async () => {
    const row = (i: number) => `<row r="${i + 1}"><c r="NTP${i + 1}"><v>1</v></c></row>`;
    const bytes = await rowXml(Array.from({ length: 7000 }, (_, i) => row(i)).join(''));
    // NTP is the 10,000th column.
    await expect(parseTable(bytes, 'd.xlsx')).rejects.toThrow(
      'd.xlsx, sheet "s" has 69993000 cells without a value in 7000 rows, and at most 67108864 are read.',
    );
  });

  it('what unpacks to more than is read', async () => {
    const zip = await openZip(await sheetBytes(usual), 'd.xlsx', 300);
    const { names } = zip;
    await expect(Promise.all(names.map(async (name) => zip.read(name)))).rejects.toThrow(
      /and at most \d+ more are read/,
    );
  });

  it('old workbooks and workbooks under the ending of another format', async () => {
    await expect(readTable(await fileOf(ole, 'd.xls'))).rejects.toThrow('in the old format (.xls)');
    const file = await fileOf(await sheetBytes(usual), 'd.csv');
    const { columns, reading = null } = await readTable(file);
    expect([...columns[0].values]).toEqual([1, 2]);
    for await (const block of tableBlocks(file, { types: null, reading })) expect(block.length).toBe(2);
    expect((await profileTable(file)).findings.filter(({ kind }) => kind === 'encoding')).toEqual([]);
  });
});
