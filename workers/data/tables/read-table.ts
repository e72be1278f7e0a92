import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { type ColumnReading, type TableReading, usualMissingValues } from '../../../core/preprocessing/reading.ts';
import { asUtf8 } from '../../../core/text/text-encoding.ts';
import { noteReading } from '../notes.ts';
import type { RawTable } from './cells.ts';
import { type Column, type ColumnType, typedColumn } from './columns.ts';
import { delimiterLike, separatorLine } from '../sources/delimited.ts';
import { type DelimitedOptions, parseDelimited, parseJsonLines } from './raw-table.ts';
import { chooseColumns, type WritingOptions } from './reading/choose-columns.ts';
import { describeReading, type FileReading, leftOutColumns } from './reading/describe-reading.ts';
import { noColumn, type Table } from './table.ts';

/** How to read a table. */
export interface ReadTableOptions extends DelimitedOptions, WritingOptions {
  /** Name of the table; the file's name by default. */
  name?: string;
  /** Types of columns by name; `ignore` leaves a column out. The types of others follow from their values. */
  columns?: Readonly<Record<string, ColumnType | 'ignore'>>;
  /**
   * Texts that stand for a missing value; by default the empty text, `NA`, `N/A`, `NaN`, `nan`, `null`, `NULL`, `None`
   * and `?`.
   */
  missingValues?: readonly string[];
  /** Encoding of text, such as `windows-1252`, where it is not UTF-8 and has no mark at its beginning. */
  encoding?: string;
  /** Reads the file as the training table was read (`preprocessing.reading`), in place of all options but `name`. */
  reading?: TableReading;
}

/**
 * Reads a table: CSV, TSV and other delimited text (UTF-8, or UTF-16 with a mark), JSON lines (`.jsonl`, `.ndjson`),
 * Parquet (`.parquet`), Arrow (`.arrow`, `.feather`).
 * @throws Error that names file, place, column and value of what cannot be read, or of what has two readings that are
 * equally good
 */
export async function readTable(file: string, options: ReadTableOptions = {}): Promise<Table> {
  return parseTable(await readFile(file), file, options);
}

/** Like {@link readTable}, from bytes; `file` is their name in messages, and its ending gives the format. */
export async function parseTable(bytes: Buffer, file: string, options: ReadTableOptions = {}): Promise<Table> {
  const { reading } = options;
  const missing = new Set(reading?.missingValues ?? options.missingValues ?? usualMissingValues);
  const { raw, ...parsed } = await parseRaw(bytes, file, (field) => missing.has(field), options);
  requireRows(file, raw.length * raw.columns.length);
  requireDistinct(raw);
  const name = options.name ?? basename(file);
  if (reading !== undefined) return { ...likeReading(raw, reading), name };
  const types = new Map(Object.entries(options.columns ?? {}));
  const names = raw.columns.map((column) => column.name);
  for (const wanted of types.keys()) if (!names.includes(wanted)) throw noColumn(file, wanted, names);
  const leftOut = leftOutColumns(raw, types);
  for (const column of leftOut) types.set(column.name, 'ignore');
  const chosen = chooseColumns(raw, types, options);
  const columns: Column[] = [];
  chosen.forEach((how, i) => {
    if (how !== null) columns.push(typedColumn(raw, i, how.type, how));
  });
  const own = describeReading(raw, { ...parsed, missingValues: [...missing], leftOut }, chosen);
  noteReading(own);
  return Object.freeze({ name, length: raw.length, columns: Object.freeze(columns), reading: own });
}

/** The columns that the reading has, with its types. Others are of no concern, and a target may be absent. */
function likeReading(raw: RawTable, reading: TableReading): Omit<Table, 'name'> {
  const columns = reading.columns.flatMap((known: ColumnReading): Column[] => {
    const index = raw.columns.findIndex((column) => column.name === known.name);
    return index < 0 ? [] : [typedColumn(raw, index, known.type, known)];
  });
  return Object.freeze({ length: raw.length, columns: Object.freeze(columns), reading });
}

async function parseRaw(
  bytes: Buffer,
  file: string,
  isMissing: (field: string) => boolean,
  options: ReadTableOptions,
): Promise<FileReading & { raw: RawTable }> {
  const ending = extname(file).toLowerCase();
  const binary = { encoding: null, hasMark: false, delimiter: null, header: null };
  if (ending === '.parquet') {
    // Most runs read no Parquet, and a worker's start is mostly the loading of modules.
    const { parseParquet } = await import('./parquet.ts');
    return { ...binary, raw: await parseParquet(bytes, file, isMissing) };
  }
  if (ending === '.arrow' || ending === '.feather') {
    const { parseArrow } = await import('./arrow/arrow.ts');
    return { ...binary, raw: parseArrow(bytes, file, isMissing) };
  }
  const { text: utf8, ...decoded } = asUtf8(bytes, file, { encoding: encodingFor(options), isUtf8 });
  const text = Buffer.from(utf8.buffer, utf8.byteOffset, utf8.byteLength);
  if (ending === '.jsonl' || ending === '.ndjson') {
    return { ...binary, ...decoded, raw: parseJsonLines(text.toString('utf8'), file, isMissing) };
  }
  const raw = parseDelimited(text, file, isMissing, delimitedOptions(file, text, options));
  return { ...decoded, raw, delimiter: raw.delimiter ?? null, header: raw.hasNames };
}

/** How to read delimited text: as the user says, or as the training table was read. */
export function delimitedOptions(file: string, text: Buffer, options: ReadTableOptions): DelimitedOptions {
  const usual: DelimitedOptions = extname(file).toLowerCase() === '.tsv' ? { delimiter: '\t' } : {};
  const { reading } = options;
  if (reading === undefined) return { ...usual, ...options };
  const own = separatorLine(text, file)?.delimiter ?? usual.delimiter ?? delimiterLike(text, reading.delimiter);
  return { delimiter: own, header: reading.header ?? 'auto' };
}

/**
 * The encoding that the user named, for this file or for the training table. A mark there says nothing of other files.
 */
export function encodingFor({ encoding, reading }: Pick<ReadTableOptions, 'encoding' | 'reading'>): string | null {
  if (reading === undefined) return encoding ?? null;
  return reading.encoding === null || reading.hasMark ? null : reading.encoding;
}

/** @throws Error where a table has no cells */
function requireRows(file: string, cells: number): void {
  if (cells === 0) throw new Error(`${file} has no rows of data. Give one row a sample.`);
}

function requireDistinct({ source, columns, hasNames }: RawTable): void {
  const names = columns.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return;
  const remedy = hasNames ? '; if the first line holds data, set header: false' : '';
  throw new Error(`${source} has two columns named ${JSON.stringify(twice)}. Rename one${remedy}.`);
}
