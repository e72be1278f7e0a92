import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { type ColumnReading, type TableReading, usualMissingValues } from '../../../core/preprocessing/reading.ts';
import { noteData, noteReading } from '../notes.ts';
import { missingTest, type RawTable } from './cells.ts';
import { type Column, type ColumnType, typedColumn } from './columns.ts';
import { chooseColumns, type WritingOptions } from './reading/choose-columns.ts';
import { describeReading, leftOutColumns } from './reading/describe-reading.ts';
import { noColumn, type Table } from './table.ts';
import { parseRaw, type RawOptions } from './table-readers.ts';

/** How to read a table. */
export interface ReadTableOptions extends RawOptions, WritingOptions {
  /** Name of the table; the file's name by default. */
  name?: string;
  /** Types of columns by name; `ignore` leaves a column out. The types of others follow from their values. */
  columns?: Readonly<Record<string, ColumnType | 'ignore'>>;
  /**
   * Texts that stand for a missing value; by default the empty text, `NA`, `N/A`, `NaN`, `nan`, `null`, `NULL`, `None`
   * and `?`. One that is a number or a date stands for all cells of that value, such as -999.0.
   */
  missingValues?: readonly string[];
}

/**
 * Reads a table: CSV, TSV and other delimited text (UTF-8, or UTF-16 with a mark), workbooks (`.xlsx`), JSON lines
 * (`.jsonl`, `.ndjson`), a list of JSON objects (`.json`), Parquet (`.parquet`), Arrow (`.arrow`, `.feather`); each may
 * be packed, as `.csv.gz` or alone in a `.zip`.
 * @throws Error that names file, place, column and value of what cannot be read, or of what has two readings that are
 * equally good
 */
export async function readTable(file: string, options: ReadTableOptions = {}): Promise<Table> {
  return parseTable(await readFile(file), file, options);
}

/** Like {@link readTable}, from bytes; `file` is their name in messages, and its ending gives the format. */
export async function parseTable(bytes: Buffer, file: string, options: ReadTableOptions = {}): Promise<Table> {
  const name = options.name ?? basename(file);
  if (options.reading !== undefined) {
    const { raw } = await parseCells(bytes, file, options);
    return { ...likeReading(raw, options.reading), name };
  }
  const { raw, chosen, reading } = await understandTable(bytes, file, options);
  const columns = chosen.flatMap((how, i) => (how === null ? [] : [typedColumn(raw, i, how.type, how)]));
  noteReading(reading);
  for (const { message } of raw.findings ?? []) noteData(`${basename(file)}: ${message}`);
  return Object.freeze({ name, length: raw.length, columns: Object.freeze(columns), reading });
}

/**
 * The cells of a table's file, the type and format of each column (null: left out), and how the file was understood.
 */
export async function understandTable(bytes: Buffer, file: string, options: ReadTableOptions) {
  const { raw, missingValues, ...parsed } = await parseCells(bytes, file, options);
  const types = new Map(Object.entries(options.columns ?? {}));
  const names = raw.columns.map((column) => column.name);
  for (const wanted of [...types.keys(), ...(options.ignoreCase ?? [])])
    if (!names.includes(wanted)) throw noColumn(file, wanted, names);
  const leftOut = leftOutColumns(raw, types);
  for (const column of leftOut) types.set(column.name, 'ignore');
  const chosen = chooseColumns(raw, types, options);
  return { raw, chosen, reading: describeReading(raw, { ...parsed, missingValues, leftOut }, chosen) };
}

/** @throws Error where a table has no cells, or a name twice */
async function parseCells(bytes: Buffer, file: string, options: ReadTableOptions) {
  const missingValues = [...(options.reading?.missingValues ?? options.missingValues ?? usualMissingValues)];
  const parsed = await parseRaw(bytes, file, missingTest(missingValues), options);
  requireRows(file, parsed.raw.length * parsed.raw.columns.length);
  requireDistinct(parsed.raw);
  return { ...parsed, missingValues };
}

/** The columns that the reading has, with its types. Others are of no concern, and a target may be absent. */
function likeReading(raw: RawTable, reading: TableReading): Omit<Table, 'name'> {
  const columns = reading.columns.flatMap((known: ColumnReading): Column[] => {
    const index = raw.columns.findIndex((column) => column.name === known.name);
    return index < 0 ? [] : [typedColumn(raw, index, known.type, known)];
  });
  return Object.freeze({ length: raw.length, columns: Object.freeze(columns), reading });
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
