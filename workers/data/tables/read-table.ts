import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import type { RawTable } from './cells.ts';
import { type Column, type ColumnType, typedColumn } from './columns.ts';
import { type DelimitedOptions, parseDelimited, parseJsonLines } from './raw-table.ts';
import { noColumn, type Table } from './table.ts';

/** How to read a table. */
export interface ReadTableOptions extends DelimitedOptions {
  /** Name of the table; the file's name by default. */
  name?: string;
  /** Types of columns by name; `ignore` leaves a column out. The types of others follow from their values. */
  columns?: Readonly<Record<string, ColumnType | 'ignore'>>;
  /** Texts that stand for a missing value; by default the empty text, `NA`, `N/A`, `NaN`, `nan`, `null`, `NULL`, `None` and `?`. */
  missingValues?: readonly string[];
}

/** Texts that stand for a missing value. */
export const usualMissingValues = ['', 'NA', 'N/A', 'NaN', 'nan', 'null', 'NULL', 'None', '?'];

/**
 * Reads a table: CSV, TSV and other delimited text (UTF-8), JSON lines (`.jsonl`, `.ndjson`), Parquet (`.parquet`), Arrow
 * (`.arrow`, `.feather`).
 * @throws Error that names file, place, column and value of what cannot be read
 */
export async function readTable(file: string, options: ReadTableOptions = {}): Promise<Table> {
  return parseTable(await readFile(file), file, options);
}

/** Like {@link readTable}, from bytes; `file` is their name in messages, and its ending gives the format. */
export async function parseTable(bytes: Buffer, file: string, options: ReadTableOptions = {}): Promise<Table> {
  const missing = new Set(options.missingValues ?? usualMissingValues);
  const raw = await parseRaw(bytes, file, (field) => missing.has(field), options);
  if (raw.length === 0 || raw.columns.length === 0) {
    throw new Error(`${file} has no rows of data. Give one row a sample.`);
  }
  const names = raw.columns.map(({ name }) => name);
  requireDistinct(file, names);
  const types = new Map(Object.entries(options.columns ?? {}));
  for (const name of types.keys()) if (!names.includes(name)) throw noColumn(file, name, names);
  const columns: Column[] = [];
  names.forEach((name, i) => {
    const type = types.get(name);
    if (type !== 'ignore') columns.push(typedColumn(raw, i, type));
  });
  return Object.freeze({ name: options.name ?? basename(file), length: raw.length, columns: Object.freeze(columns) });
}

async function parseRaw(
  bytes: Buffer,
  file: string,
  isMissing: (field: string) => boolean,
  options: ReadTableOptions,
): Promise<RawTable> {
  switch (extname(file).toLowerCase()) {
    case '.parquet': {
      // Most runs read no Parquet, and a worker's start is mostly the loading of modules.
      const { parseParquet } = await import('./parquet.ts');
      return parseParquet(bytes, file, isMissing);
    }
    case '.arrow':
    case '.feather': {
      const { parseArrow } = await import('./arrow/arrow.ts');
      return parseArrow(bytes, file, isMissing);
    }
    case '.jsonl':
    case '.ndjson':
      return parseJsonLines(bytes.toString('utf8'), file, isMissing);
    case '.tsv':
      return parseDelimited(bytes, file, isMissing, { delimiter: '\t', ...options });
    default:
      return parseDelimited(bytes, file, isMissing, options);
  }
}

function requireDistinct(file: string, names: readonly string[]): void {
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return;
  throw new Error(
    `${file} has two columns named ${JSON.stringify(twice)}. Rename one; if the first line holds data, set header: false.`,
  );
}
