import { z } from 'zod';

/**
 * How the file of a training table was understood. It is found out once, shown before training, kept in
 * `preprocessing.json`, and every later file of the user is read in the same way.
 */

/**
 * Ways to write a date apart from ISO 8601: a day of the week may stand in front, and a time may follow. `YY` is 1969
 * to 2068, `MMM` an English month such as Jan or January. A month without a day begins on its first.
 */
export const dateFormats = [
  'DD/MM/YYYY',
  'MM/DD/YYYY',
  'YYYY/MM/DD',
  'DD.MM.YYYY',
  'YYYY.MM.DD',
  'DD-MM-YYYY',
  'MM-DD-YYYY',
  'DD/MM/YY',
  'MM/DD/YY',
  'YY/MM/DD',
  'DD.MM.YY',
  'DD-MM-YY',
  'MM-DD-YY',
  'YY-MM-DD',
  'DD-MMM-YYYY',
  'DD-MMM-YY',
  'DD MMM YYYY',
  'MMM DD, YYYY',
  'YYYYMMDD',
  'YYYY-MM',
  'MM/YYYY',
  'MMM YYYY',
  'MMM-YYYY',
  'MMM-YY',
] as const;
export type DateFormat = (typeof dateFormats)[number];

const numberFormatSchema = z.strictObject({
  /** The sign in front of the decimals. */
  decimal: z.enum(['.', ',']),
  /** The sign between groups of three digits; empty where there is none. A blank stands for every kind of blank. */
  grouping: z.enum(['', ',', '.', ' ', "'"]),
  /** A currency sign or % at every number, which is left out; empty where there is none; `HH:MM`: see `clockFormat`. */
  unit: z.string(),
});
/** How the numbers of a column are written. */
export type NumberFormat = z.output<typeof numberFormatSchema>;

/** Times of day, such as 14:00, 14:00:30 and 2:00 PM, which are hours since midnight. */
export const clockFormat: NumberFormat = { decimal: '.', grouping: '', unit: 'HH:MM' };

export const isClock = (format: NumberFormat | null): boolean => format?.unit === clockFormat.unit;

/** Texts that stand for a missing value, unless the user names others. */
export const usualMissingValues = ['', 'NA', 'N/A', 'NaN', 'nan', 'null', 'NULL', 'None', '?'];

/** A category where the case of letters, and how accents are composed, make no difference. */
export const caselessText = (text: string): string => text.normalize('NFC').toLowerCase();

export const delimiterSchema = z.enum(['whitespace', ',', ';', '\t', '|']);
export type Delimiter = z.output<typeof delimiterSchema>;

export const columnTypeSchema = z.enum(['number', 'category', 'text', 'date', 'boolean']);

export const columnReadingSchema = z.strictObject({
  name: z.string(),
  /** The position in the file, counted from 1. */
  position: z.int().min(1),
  type: columnTypeSchema,
  /** The format of text that holds numbers; null: plain ones with a decimal point. */
  numberFormat: numberFormatSchema.nullable(),
  /** The format of text that holds dates; null: ISO 8601. */
  dateFormat: z.enum(dateFormats).nullable(),
  /** Cells that count as missing, by their text; cells that the file itself leaves out are those of the empty text. */
  missing: z.record(z.string(), z.int().min(1)),
  /** Number of distinct texts; null for other types. */
  distinct: z.int().min(0).nullable(),
  /** Whether categories that differ only in the case of letters, or in how accents are composed, are one. */
  ignoresCase: z.boolean().optional(),
  /** Whether its numbers count the rows: 0, 1, 2, ... or 1, 2, 3, ... */
  countsRows: z.boolean(),
});
/** How a column was read. */
export type ColumnReading = z.output<typeof columnReadingSchema>;

const leftOutSchema = z.strictObject({
  name: z.string(),
  position: z.int().min(1),
  /**
   * `ignored`: as the user wished. `empty`: neither a name nor a value. `row-names`: without a name, and different in
   * each row.
   */
  reason: z.enum(['ignored', 'empty', 'row-names']),
});

export const tableReadingSchema = z.strictObject({
  /** Name of the file, without its folder. */
  file: z.string(),
  /** Number of rows. */
  rows: z.int().min(1),
  /** The encoding of text: `utf-8`, `utf-16le`, or what the user named; null for Excel, Parquet and Arrow. */
  encoding: z.string().nullable(),
  /** Whether a mark at the file's beginning says the encoding. */
  hasMark: z.boolean(),
  /** The delimiter of delimited text, else null. */
  delimiter: delimiterSchema.nullable(),
  /** The sheet of a workbook; null for other formats. */
  sheet: z.string().nullable(),
  /** The sheet's cells that the user named, `B3:F200`; null: all. Later files may have more or fewer rows below B3. */
  range: z.string().nullable(),
  /** Whether the first line of delimited text or of a sheet names the columns; null for other formats. */
  header: z.boolean().nullable(),
  /** Lines of comment in front of delimited text, which were left out. */
  comments: z.array(z.string()),
  /** Texts that stand for a missing value. */
  missingValues: z.array(z.string()),
  /** Rows without any value, which were left out. */
  emptyRows: z.int().min(0),
  columns: z.array(columnReadingSchema),
  leftOut: z.array(leftOutSchema),
});
/** How a table was read. */
export type TableReading = z.output<typeof tableReadingSchema>;

const delimiterNames: Record<Delimiter, string> = {
  whitespace: 'white space',
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'vertical bars',
};
const reasons: Record<TableReading['leftOut'][number]['reason'], string> = {
  ignored: 'ignored, as the project says',
  empty: 'left out: no name and no value',
  'row-names': 'left out: no name, and another value in each row',
};
const plurals: Record<ColumnReading['type'], string> = {
  number: 'numbers',
  category: 'categories',
  text: 'texts',
  date: 'dates',
  boolean: 'booleans',
};
/** More columns are not shown. */
const mostShown = 20;

/**
 * How a table was read, for people: a sentence,
 * `houses.csv: 506 rows, UTF-8, separated by commas, names in the first line; 13 numbers, 1 category.`, and below it a
 * short table of the columns that are worth a look. Columns of plain numbers without missing cells are only counted.
 */
export function readingText(reading: TableReading): string {
  const { columns, leftOut } = reading;
  const all = [
    ...columns.map((column) => ({ position: column.position, weight: weightOf(column), cells: cellsOf(column) })),
    ...leftOut.map(({ name, position, reason }) => ({
      position,
      weight: reason === 'ignored' ? 0 : 2,
      cells: [JSON.stringify(name), reasons[reason], ''],
    })),
  ].filter(({ weight }) => weight > 0);
  const shown = all
    .toSorted((a, b) => b.weight - a.weight || a.position - b.position)
    .slice(0, mostShown)
    .sort((a, b) => a.position - b.position)
    .map(({ cells }) => cells);
  const hidden = all.length - shown.length;
  return [
    sentenceOf(reading),
    ...alignedLines(shown),
    ...(hidden > 0 ? [`  ${hidden} more columns of categories, or with missing cells`] : []),
    ...adviceOnNames(reading),
  ].join('\n');
}

/** `NA` may be a name among others: a country, or a class. A user who named the missing texts has decided. */
function adviceOnNames({ columns, missingValues }: TableReading): string[] {
  if (missingValues.join() !== usualMissingValues.join()) return [];
  const named = columns.filter(({ type }) => type === 'category' || type === 'text');
  const texts = [...new Set(named.flatMap(({ missing }) => Object.keys(missing)))].filter(
    (text) => text !== '' && missingValues.includes(text),
  );
  if (texts.length === 0) return [];
  const shown = texts.map((text) => JSON.stringify(text)).join(', ');
  return [`  Where ${shown} is a value, read the table with ${missingValuesWithout(missingValues, texts)}.`];
}

/** The option with which these texts are values: `missingValues: ['', 'N/A']` */
export function missingValuesWithout(missingValues: readonly string[], texts: readonly string[]): string {
  const others = missingValues.filter((text) => !texts.includes(text));
  return `missingValues: [${others.map((text) => `'${text}'`).join(', ')}]`;
}

function sentenceOf(reading: TableReading): string {
  const { file, rows, encoding, delimiter, sheet, range, header, comments, emptyRows, columns } = reading;
  const counts = columnTypeSchema.options.flatMap((type) => {
    const count = columns.filter((column) => column.type === type).length;
    return count === 0 ? [] : [count === 1 ? `1 ${type}` : `${count} ${plurals[type]}`];
  });
  const parts = [
    `${rows} rows`,
    ...(encoding === null ? [] : [encoding.toUpperCase()]),
    ...(delimiter === null ? [] : [`separated by ${delimiterNames[delimiter]}`]),
    ...(sheet === null ? [] : [`sheet ${JSON.stringify(sheet)}${range === null ? '' : ` (${range})`}`]),
    ...(header === null ? [] : [header ? 'names in the first line' : 'no line of names']),
    ...(comments.length === 0 ? [] : [`${linesOfComment(comments.length)} left out`]),
    ...(emptyRows === 0 ? [] : [`${emptyRows} empty rows left out`]),
  ];
  return `${file}: ${parts.join(', ')}; ${counts.join(', ')}.`;
}

export const linesOfComment = (count: number): string => `${count} ${count === 1 ? 'line' : 'lines'} of comment`;

function alignedLines(rows: readonly (readonly string[])[]): string[] {
  const [first, second] = [0, 1].map((i) => Math.max(0, ...rows.map((row) => row[i].length)));
  return rows.map(([name, how, missing]) => `  ${name.padEnd(first)}  ${how.padEnd(second)}  ${missing}`.trimEnd());
}

function weightOf({ type, numberFormat, dateFormat, missing, countsRows }: ColumnReading): number {
  if (countsRows || numberFormat !== null || dateFormat !== null) return 2;
  if (Object.keys(missing).some((text) => text !== '')) return 2;
  return type === 'number' && Object.keys(missing).length === 0 ? 0 : 1;
}

function cellsOf(column: ColumnReading): string[] {
  const missing = missingCells(column.missing);
  return [JSON.stringify(column.name), readAs(column), missing === '' ? '' : `missing: ${missing}`];
}

/** `number, decimal comma`; `category, 3 values` */
export function readAs({ type, numberFormat, dateFormat, distinct, countsRows }: ColumnReading): string {
  switch (type) {
    case 'number':
      if (countsRows) return 'number that counts the rows: ignore it if it is no feature';
      return numberFormat === null ? 'number' : `number, ${formatName(numberFormat)}`;
    case 'date':
      return `date, ${dateFormat ?? 'ISO 8601'}`;
    case 'boolean':
      return 'true or false';
    default:
      return `${type}, ${distinct === 1 ? '1 value' : `${distinct} values`}`;
  }
}

/** `decimal comma, groups by ".", without €` */
function formatName(format: NumberFormat): string {
  if (isClock(format)) return 'time of day in hours';
  const { decimal, grouping, unit } = format;
  const parts = [
    `decimal ${decimal === ',' ? 'comma' : 'point'}`,
    ...(grouping === '' ? [] : [`groups by "${grouping}"`]),
    ...(unit === '' ? [] : [`without ${unit}`]),
  ];
  return parts.join(', ');
}

/** `20 ("NA" 18, empty 2)`; empty where there is none. */
export function missingCells(missing: ColumnReading['missing']): string {
  const counts = Object.entries(missing).sort(([, a], [, b]) => b - a);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return '';
  const texts = counts.map(([text, count]) => `${text === '' ? 'empty' : JSON.stringify(text)} ${count}`);
  return `${total} (${texts.join(', ')})`;
}

const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const { compare: compareTexts } = new Intl.Collator('en', { numeric: true });

/**
 * Names of classes, or categories, in their order, each once: by value where all are numbers (-10, -2, 0.5, 1, 2, 12),
 * else alphabetically, numbers within names by value (`fold 2` before `fold 10`). Tables, folders and all else order by
 * this function, so that the same classes have the same numbers.
 */
export function orderClasses(names: Iterable<string>): string[] {
  const distinct = [...new Set(names)];
  const compare = distinct.every((name) => decimal.test(name))
    ? (a: string, b: string) => Number(a) - Number(b)
    : compareTexts;
  return distinct.sort((a, b) => compare(a, b) || (a < b ? -1 : 1));
}
