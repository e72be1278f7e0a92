import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import type { RawTable } from './cells.ts';
import { type ColumnType, typedColumn } from './columns.ts';
import { delimitedBlocks } from './delimited-blocks.ts';
import { parseJsonLines } from './raw-table.ts';
import { usualMissingValues } from './read-table.ts';
import { noColumn, type Table } from './table.ts';

/** How to read a table in blocks. */
export interface TableBlocksOptions {
  /** The columns that are wanted, with their types; null: all, with the types of the first block. */
  types: Readonly<Record<string, ColumnType>> | null;
  /** Bytes of text in a block, and rows of a block of Parquet. */
  blockBytes?: number;
  blockRows?: number;
}

const usualBlockBytes = 2 ** 22;
const usualBlockRows = 2 ** 14;
/** A row of text that is longer is damaged: its quote is not closed. */
const longestRowBytes = 2 ** 28;
const [quote, lineFeed, carriageReturn] = [0x22, 0x0a, 0x0d];

/**
 * Reads a table block by block, so that a large one takes no more memory than a small one. A Parquet file's bytes stay in memory, its values
 * do not. Text (`.txt`) has one column, `text`, with a line for each row.
 * @throws Error that names file, place, column and value of what cannot be read
 */
export async function* tableBlocks(file: string, options: TableBlocksOptions): AsyncGenerator<Table> {
  let { types } = options;
  let rows = 0;
  for await (const block of rawBlocks(file, options)) {
    if (block.length === 0) continue;
    const table = 'source' in block ? typedBlock(block, types, extname(file).toLowerCase() === '.txt') : block;
    types ??= Object.fromEntries(table.columns.map(({ name, type }) => [name, type]));
    rows += block.length;
    yield table;
  }
  if (rows === 0) throw new Error(`${file} has no rows of data. Give one row a sample.`);
}

/** Blocks of cells, or already typed ones. */
function rawBlocks(
  file: string,
  { types, blockBytes, blockRows = usualBlockRows }: TableBlocksOptions,
): AsyncGenerator<RawTable | Table> {
  const missing = new Set(usualMissingValues);
  const isMissing = (field: string) => missing.has(field);
  switch (extname(file).toLowerCase()) {
    case '.parquet':
      return parquetRows(file, isMissing, blockRows);
    case '.arrow':
    case '.feather':
      return arrowRows(file, isMissing);
    case '.jsonl':
    case '.ndjson':
      return jsonBlocks(file, isMissing, blockBytes);
    case '.txt':
      return lineBlocks(file, blockBytes);
    case '.tsv':
      return delimitedBlocks(textPieces(file, true, blockBytes), { file, isMissing, types, delimiter: '\t' });
    default:
      return delimitedBlocks(textPieces(file, true, blockBytes), { file, isMissing, types, delimiter: null });
  }
}

function typedBlock(raw: RawTable, types: TableBlocksOptions['types'], isText: boolean): Table {
  const names = raw.columns.map(({ name }) => name);
  const wanted: [string, ColumnType | undefined][] =
    types === null ? names.map((name) => [name, undefined]) : Object.entries(types);
  // A file of texts has no names: its texts are the only column that is wanted.
  const nameOf = (name: string) => (isText && wanted.length === 1 ? 'text' : name);
  const columns = wanted.map(([name, type]) => {
    const index = names.indexOf(nameOf(name));
    if (index < 0) throw noColumn(raw.source, name, names);
    return { ...typedColumn(raw, index, isText ? (type ?? 'text') : type), name };
  });
  return { name: basename(raw.source), length: raw.length, columns };
}

async function* jsonBlocks(file: string, isMissing: (field: string) => boolean, blockBytes?: number) {
  let names = new Set<string>();
  for await (const { text, linesBefore } of textPieces(file, false, blockBytes)) {
    const raw = parseJsonLines(text.toString('utf8'), file, isMissing, linesBefore);
    names = new Set([...names, ...raw.columns.map(({ name }) => name)]);
    // Rows of this block may lack a column of earlier ones.
    const absent = [...names].filter((name) => !raw.columns.some((column) => column.name === name));
    const cells = () => Array.from({ length: raw.length }, () => null);
    yield { ...raw, columns: [...raw.columns, ...absent.map((name) => ({ name, cells: cells() }))] };
  }
}

async function* lineBlocks(file: string, blockBytes?: number): AsyncGenerator<RawTable> {
  for await (const { text, linesBefore } of textPieces(file, false, blockBytes)) {
    const cells = text
      .toString('utf8')
      .replace(/\r?\n$/, '')
      .split(/\r?\n/);
    const placeOf = (row: number) => `${file}, line ${linesBefore + row + 1}`;
    yield { source: file, columns: [{ name: 'text', cells }], length: cells.length, hasNames: true, placeOf };
  }
}

async function* parquetRows(file: string, isMissing: (field: string) => boolean, blockRows: number) {
  const { parquetBlocks } = await import('./parquet.ts');
  yield* parquetBlocks(await readFile(file), file, isMissing, blockRows);
}

/** A format that is read as a whole. */
async function* arrowRows(file: string, isMissing: (field: string) => boolean): AsyncGenerator<RawTable> {
  const { parseArrow } = await import('./arrow/arrow.ts');
  yield parseArrow(await readFile(file), file, isMissing);
}

/** Pieces of a text file that end with a line, and outside quotes where these may hold line ends. */
async function* textPieces(file: string, hasQuotes: boolean, blockBytes = usualBlockBytes) {
  let rest: Buffer = Buffer.alloc(0);
  let linesBefore = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: blockBytes }) as AsyncIterable<Buffer>) {
    const whole = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = lastLineEnd(whole, hasQuotes);
    rest = whole.subarray(end);
    if (rest.length > longestRowBytes) {
      throw new Error(
        `${file}, line ${linesBefore + 1}: a row of more than ${longestRowBytes} bytes. Is a quote not closed?`,
      );
    }
    if (end === 0) continue;
    const text = whole.subarray(0, end);
    yield { text, linesBefore };
    linesBefore += countLines(text);
  }
  if (rest.length > 0) yield { text: rest, linesBefore };
}

/** The byte after the last line end that is outside quotes; 0 if there is none. The text begins outside quotes. */
function lastLineEnd(text: Buffer, hasQuotes: boolean): number {
  if (!hasQuotes || !text.includes(quote)) {
    const end = text.lastIndexOf(lineFeed);
    return end >= 0 ? end + 1 : text.lastIndexOf(carriageReturn) + 1;
  }
  let isInside = false;
  let last = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === quote) isInside = !isInside;
    else if (!isInside && (text[i] === lineFeed || (text[i] === carriageReturn && text[i + 1] !== lineFeed)))
      last = i + 1;
  }
  return last;
}

function countLines(text: Buffer): number {
  let lines = 0;
  for (let i = text.indexOf(lineFeed); i >= 0; i = text.indexOf(lineFeed, i + 1)) lines++;
  if (lines > 0) return lines;
  for (let i = text.indexOf(carriageReturn); i >= 0; i = text.indexOf(carriageReturn, i + 1)) lines++;
  return lines;
}
