import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { isNamedUtf8, markOf, mostMarkBytes, pieceDecoder, requireText } from '../../../core/text/text-encoding.ts';
import { type TableReading, usualMissingValues } from '../../../core/preprocessing/reading.ts';
import { addCell, emptyColumn, type RawTable } from './cells.ts';
import { type ColumnType, plainFormat, typedColumn } from './columns.ts';
import { delimitedBlocks } from './delimited-blocks.ts';
import { parseJsonLines } from './raw-table.ts';
import { encodingFor } from './read-table.ts';
import { type ChosenColumn, chooseColumns } from './reading/choose-columns.ts';
import { leftOutColumns } from './reading/describe-reading.ts';
import { noColumn, type Table } from './table.ts';

/** How to read a table in blocks. */
export interface TableBlocksOptions {
  /**
   * The columns that are wanted, with their types; null: all, with the types of the training table or of the first
   * block.
   */
  types: Readonly<Record<string, ColumnType>> | null;
  /** How the training table was read, which also holds for this one; null: not known. */
  reading?: TableReading | null;
  /** Bytes of text in a block, and rows of a block of Parquet. */
  blockBytes?: number;
  blockRows?: number;
}

/** The wanted columns by name. */
type WantedColumns = ReadonlyMap<string, ChosenColumn>;

const usualBlockBytes = 2 ** 22;
const usualBlockRows = 2 ** 14;
/** A row of text that is longer is damaged: its quote is not closed. */
const longestRowBytes = 2 ** 28;
const [quote, lineFeed, carriageReturn] = [0x22, 0x0a, 0x0d];

/**
 * Reads a table block by block, so that a large one takes no more memory than a small one. A Parquet file's bytes stay
 * in memory, its values do not. Text (`.txt`) has one column, `text`, with a line for each row.
 * @throws Error that names file, place, column and value of what cannot be read
 */
export async function* tableBlocks(file: string, options: TableBlocksOptions): AsyncGenerator<Table> {
  const isText = extname(file).toLowerCase() === '.txt';
  let wanted = wantedColumns(options);
  let rows = 0;
  let emptyRows = 0;
  for await (const block of rawBlocks(file, options)) {
    emptyRows += block.emptyRows ?? 0;
    if (block.length === 0) continue;
    const own = 'source' in block ? (wanted ?? firstColumns(block, options.reading ?? null, isText)) : wanted;
    wanted = own;
    const table = 'source' in block ? typedBlock(block, own ?? new Map(), isText) : block;
    rows += block.length;
    yield { ...table, emptyRows };
    emptyRows = 0;
  }
  if (rows === 0) throw new Error(`${file} has no rows of data. Give one row a sample.`);
}

/** The wanted columns, written as in the training table; null where the file says which there are. */
function wantedColumns({ types, reading = null }: TableBlocksOptions): WantedColumns | null {
  if (types === null) return null;
  return new Map(
    Object.entries(types).map(([name, type]): [string, ChosenColumn] => {
      const known = reading?.columns.find((column) => column.name === name && column.type === type);
      return [name, { type, ...formatOf(known) }];
    }),
  );
}

function formatOf({ numberFormat, dateFormat } = plainFormat) {
  return { numberFormat, dateFormat };
}

/** All columns of a file: those of the training table, else as the first block shows them. */
function firstColumns(raw: RawTable, reading: TableReading | null, isText: boolean): WantedColumns {
  const names = raw.columns.map(({ name }) => name);
  if (isText) return new Map(names.map((name) => [name, { type: 'text', ...plainFormat }]));
  const known = new Map(reading?.columns.map((column) => [column.name, column]));
  const types = new Map<string, 'ignore'>(leftOutColumns(raw, new Map()).map(({ name }) => [name, 'ignore']));
  for (const name of known.keys()) types.set(name, 'ignore');
  const chosen = chooseColumns(raw, types, {});
  const columns = names.flatMap((name, i): [string, ChosenColumn][] => {
    const column = known.get(name);
    if (column !== undefined) return [[name, { type: column.type, ...formatOf(column) }]];
    return chosen[i] === null ? [] : [[name, chosen[i]]];
  });
  return new Map(columns);
}

/** Blocks of cells, or already typed ones. */
function rawBlocks(file: string, options: TableBlocksOptions): AsyncGenerator<RawTable | Table> {
  const { reading = null, blockBytes = usualBlockBytes, blockRows = usualBlockRows } = options;
  const missing = new Set(reading?.missingValues ?? usualMissingValues);
  const isMissing = (field: string) => missing.has(field);
  const pieces = (hasQuotes: boolean) =>
    textPieces(file, { hasQuotes, encoding: reading === null ? null : encodingFor({ reading }), blockBytes });
  switch (extname(file).toLowerCase()) {
    case '.parquet':
      return parquetRows(file, isMissing, blockRows);
    case '.arrow':
    case '.feather':
      return arrowRows(file, isMissing);
    case '.jsonl':
    case '.ndjson':
      return jsonBlocks(file, isMissing, pieces(false));
    case '.txt':
      return lineBlocks(file, pieces(false));
    default:
      return delimitedBlocks(pieces(true), { file, isMissing, reading, wanted: wantedColumns(options) });
  }
}

function typedBlock(raw: RawTable, wanted: WantedColumns, isText: boolean): Table {
  const names = raw.columns.map(({ name }) => name);
  // A file of texts has no names: its texts are the only column that is wanted.
  const nameOf = (name: string) => (isText && wanted.size === 1 ? 'text' : name);
  const columns = [...wanted].map(([name, how]) => {
    const index = names.indexOf(nameOf(name));
    if (index < 0) throw noColumn(raw.source, name, names);
    return { ...typedColumn(raw, index, how.type, how), name };
  });
  return { name: basename(raw.source), length: raw.length, columns };
}

/** A piece of a file that ends with a line. */
interface LinePiece {
  text: Buffer;
  linesBefore: number;
}

async function* jsonBlocks(file: string, isMissing: (field: string) => boolean, pieces: AsyncIterable<LinePiece>) {
  let names = new Set<string>();
  for await (const { text, linesBefore } of pieces) {
    const raw = parseJsonLines(text.toString('utf8'), file, isMissing, linesBefore);
    names = new Set([...names, ...raw.columns.map(({ name }) => name)]);
    // Rows of this block may lack a column of earlier ones.
    const absent = [...names].filter((name) => !raw.columns.some((column) => column.name === name));
    const added = absent.map((name) => {
      const column = emptyColumn(name);
      for (let row = 0; row < raw.length; row++) addCell(column, null, isMissing);
      return column;
    });
    yield { ...raw, columns: [...raw.columns, ...added] };
  }
}

async function* lineBlocks(file: string, pieces: AsyncIterable<LinePiece>): AsyncGenerator<RawTable> {
  for await (const { text, linesBefore } of pieces) {
    const cells = text
      .toString('utf8')
      .replace(/\r?\n$/, '')
      .split(/\r?\n/);
    const placeOf = (row: number) => `${file}, line ${linesBefore + row + 1}`;
    yield { source: file, columns: [{ ...emptyColumn('text'), cells }], length: cells.length, hasNames: true, placeOf };
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

/** Pieces of a text file as UTF-8 that end with a line, and outside quotes where these may hold line ends. */
async function* textPieces(
  file: string,
  { hasQuotes, encoding, blockBytes }: { hasQuotes: boolean; encoding: string | null; blockBytes: number },
): AsyncGenerator<LinePiece> {
  const mark = await readMark(file);
  const decode = bytesDecoder(mark?.encoding ?? encoding ?? 'utf-8', file);
  let rest: Buffer = Buffer.alloc(0);
  let linesBefore = 0;
  const piece = (text: Buffer): LinePiece => {
    requireText(text, file, linesBefore, { encoding, isUtf8 });
    return { text, linesBefore };
  };
  const stream = createReadStream(file, { highWaterMark: blockBytes, start: mark?.markBytes ?? 0 });
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const own = decode(chunk);
    const whole = rest.length === 0 ? own : Buffer.concat([rest, own]);
    const end = lastLineEnd(whole, hasQuotes);
    rest = whole.subarray(end);
    if (rest.length > longestRowBytes) {
      throw new Error(
        `${file}, line ${linesBefore + 1}: a row of more than ${longestRowBytes} bytes. Is a quote not closed?`,
      );
    }
    if (end === 0) continue;
    const text = whole.subarray(0, end);
    yield piece(text);
    linesBefore += countLines(text);
  }
  rest = Buffer.concat([rest, decode(null)]);
  if (rest.length > 0) yield piece(rest);
}

/** A function that turns the pieces of a file into UTF-8; null stands for its end. Those of UTF-8 stay as they are. */
function bytesDecoder(encoding: string, file: string): (piece: Buffer | null) => Buffer {
  if (isNamedUtf8(encoding)) return (piece) => piece ?? Buffer.alloc(0);
  const decode = pieceDecoder(encoding, file);
  return (piece) => Buffer.from(decode(piece));
}

async function readMark(file: string) {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(mostMarkBytes) });
    return markOf(buffer.subarray(0, bytesRead));
  } finally {
    await handle.close();
  }
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
