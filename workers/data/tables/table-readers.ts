import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { dataFormatOf, type TableFormat } from '../../../core/preprocessing/data-formats.ts';
import type { Delimiter, TableReading } from '../../../core/preprocessing/reading.ts';
import {
  asUtf8,
  isNamedUtf8,
  markOf,
  mostMarkBytes,
  pieceDecoder,
  requireText,
} from '../../../core/text/text-encoding.ts';
import { addCell, Cells, emptyColumn, type IsMissing, type RawTable } from './cells.ts';
import { delimitedBlocks } from './delimited-blocks.ts';
import { parseJson, parseJsonLines } from './json-rows.ts';
import { parseDelimited } from './raw-table.ts';
import type { ChosenColumn } from './reading/choose-columns.ts';
import type { FileReading } from './reading/describe-reading.ts';
import { beginningOf, bytesAhead, type DelimitedOptions } from './reading/table-beginning.ts';
import type { Table } from './table.ts';
import { isPacked, isWorkbook, oleMark, unpackTable } from './unpack.ts';
import type { WorkbookOptions } from './workbook.ts';

/** How to read the cells of a file. */
export interface RawOptions extends DelimitedOptions, WorkbookOptions {
  /** Encoding of text, such as `windows-1252`, where it is not UTF-8 and has no mark at its beginning. */
  encoding?: string;
  /** Reads the file as the training table was read (`preprocessing.reading`), in place of all options but `name`. */
  reading?: TableReading;
}

/** How to read the cells of a file in blocks. */
export interface RawBlockOptions {
  isMissing: IsMissing;
  /** How the training table was read; null: not known. */
  reading: TableReading | null;
  /** The wanted columns by name; null: not known yet. */
  wanted: ReadonlyMap<string, ChosenColumn> | null;
  /** Bytes of text in a block. */
  blockBytes?: number | undefined;
  /** Rows in a block of other formats. */
  blockRows?: number | undefined;
}

/** A table's cells, and how its bytes were understood. */
type Parsed = FileReading & { raw: RawTable };

/** Reads the files of a format. */
interface TableReader {
  /** `file` is the name of the bytes in messages. */
  parse: (bytes: Buffer, file: string, isMissing: IsMissing, options: RawOptions) => Parsed | Promise<Parsed>;
  /** Reads a file in blocks, which may have types already; absent: in one block. */
  blocks?: (file: string, options: RawBlockOptions) => AsyncGenerator<RawTable | Table>;
}

const usualBlockBytes = 2 ** 22;
const usualBlockRows = 2 ** 14;
/** A row of text that is longer is damaged: its quote is not closed. */
const longestRowBytes = 2 ** 28;
const [quote, lineFeed, carriageReturn] = [0x22, 0x0a, 0x0d];
/** Of a format that says itself what its bytes are. */
const binary = {
  encoding: null,
  hasMark: false,
  delimiter: null,
  sheet: null,
  range: null,
  header: null,
  comments: [],
};

/** @param usual the delimiter of all files of the format; null: any */
function delimitedReader(usual: Delimiter | null): TableReader {
  return {
    parse(bytes, file, isMissing, options) {
      const { text, ...decoded } = decodedText(bytes, file, options);
      const { bytes: start, lines, comments, ...how } = beginningOf(text, file, options, usual);
      const raw = parseDelimited(text.subarray(start), file, isMissing, how, { linesBefore: lines, known: null });
      return { ...binary, ...decoded, raw, delimiter: how.delimiter, header: raw.hasNames, comments };
    },
    blocks: (file, options) => delimitedBlocks(textPieces(file, options, true), { ...options, file, usual }),
  };
}

const delimited = delimitedReader(null);

/**
 * The reader of each format. Those of binary formats load their module when a file is read: most runs read none, and a
 * worker's start is mostly the loading of modules.
 */
const readers: Record<TableFormat, TableReader> = {
  CSV: delimited,
  TSV: delimitedReader('\t'),
  Excel: {
    async parse(bytes, file, isMissing, options) {
      const { parseWorkbook } = await import('./workbook.ts');
      const { raw, sheet, range } = await parseWorkbook(bytes, file, isMissing, options);
      return { ...binary, raw, sheet, range, header: raw.hasNames };
    },
  },
  'JSON lines': {
    parse(bytes, file, isMissing, options) {
      const { text, ...decoded } = decodedText(bytes, file, options);
      return { ...binary, ...decoded, raw: parseJsonLines(text, file, isMissing) };
    },
    blocks: (file, options) => jsonBlocks(file, options.isMissing, textPieces(file, options, false)),
  },
  JSON: {
    parse(bytes, file, isMissing, options) {
      const { text, ...decoded } = decodedText(bytes, file, options);
      return { ...binary, ...decoded, raw: parseJson(text, file, isMissing) };
    },
  },
  Parquet: {
    async parse(bytes, file, isMissing) {
      const { parseParquet } = await import('./parquet/parquet.ts');
      return { ...binary, raw: await parseParquet(bytes, file, isMissing) };
    },
    async *blocks(file, { isMissing, blockRows = usualBlockRows }) {
      const { parquetBlocks } = await import('./parquet/parquet.ts');
      yield* parquetBlocks(await readFile(file), file, isMissing, blockRows);
    },
  },
  Arrow: {
    async parse(bytes, file, isMissing) {
      const { parseArrow } = await import('./arrow/arrow.ts');
      return { ...binary, raw: parseArrow(bytes, file, isMissing) };
    },
  },
  // Samples have one text a line. A table of this ending, which a project reads, may be of any delimited text.
  lines: { ...delimited, blocks: (file, options) => lineBlocks(file, textPieces(file, options, false)) },
};

/**
 * Reads the cells of a whole file, which may be packed, by the format of its ending; all that has no other is delimited
 * text.
 */
export async function parseRaw(
  bytes: Buffer,
  file: string,
  isMissing: IsMissing,
  options: RawOptions,
): Promise<Parsed> {
  const own = await unpackTable(bytes, file);
  const reader = isWorkbook(own.bytes) ? readers.Excel : readerOf(own.file);
  return reader.parse(own.bytes, own.file, isMissing, options);
}

/** The same in blocks of cells, or already typed ones. */
export async function* rawBlocks(file: string, options: RawBlockOptions): AsyncGenerator<RawTable | Table> {
  const { blocks } = readerOf(file);
  if (blocks !== undefined && !isPacked(file) && !isWorkbook(await readBeginning(file, oleMark.length)))
    return yield* blocks(file, options);
  const { isMissing, reading } = options;
  yield (await parseRaw(await readFile(file), file, isMissing, reading === null ? {} : { reading })).raw;
}

function readerOf(file: string): TableReader {
  const format = dataFormatOf(file);
  return format?.holds === 'table' || format?.holds === 'text' ? readers[format.name] : delimited;
}

function decodedText(bytes: Buffer, file: string, options: RawOptions) {
  const encoding = encodingFor(options, () => isPlainlyUtf8(bytes));
  const { text: utf8, ...decoded } = asUtf8(bytes, file, { encoding, isUtf8 });
  return { ...decoded, text: Buffer.from(utf8.buffer, utf8.byteOffset, utf8.byteLength) };
}

/**
 * The encoding that the user named for this file, or for the training table. A mark there says nothing of other files,
 * and a later file may be UTF-8, which text in another encoding hardly ever is by chance.
 */
function encodingFor({ encoding, reading }: RawOptions, isPlainlyUtf8: () => boolean): string | null {
  if (reading === undefined) return encoding ?? null;
  const known = reading.hasMark ? null : reading.encoding;
  return known === null || isNamedUtf8(known) || isPlainlyUtf8() ? null : known;
}

/** Whether bytes are UTF-8 and no text in another encoding, most of which agree with it in ASCII. */
export const isPlainlyUtf8 = (bytes: Buffer): boolean => isUtf8(bytes) && isBeyondAscii(bytes);

const isBeyondAscii = (bytes: Buffer): boolean => !bytes.includes(0) && bytes.some((byte) => byte > 0x7f);

async function isPlainlyUtf8File(file: string, blockBytes: number): Promise<boolean> {
  let isBeyond = false;
  try {
    const check = pieceDecoder('utf-8', file);
    for await (const piece of createReadStream(file, { highWaterMark: blockBytes }) as AsyncIterable<Buffer>) {
      check(piece);
      if (piece.includes(0)) return false;
      isBeyond ||= isBeyondAscii(piece);
    }
    check(null);
  } catch {
    return false;
  }
  return isBeyond;
}

/** A piece of a file that ends with a line. */
interface LinePiece {
  text: Buffer;
  linesBefore: number;
}

async function* jsonBlocks(file: string, isMissing: IsMissing, pieces: AsyncIterable<LinePiece>) {
  let names = new Set<string>();
  for await (const { text, linesBefore } of pieces) {
    const raw = parseJsonLines(text, file, isMissing, linesBefore);
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
    yield {
      source: file,
      columns: [{ ...emptyColumn('text'), cells: Cells.from(cells) }],
      length: cells.length,
      hasNames: true,
      placeOf,
    };
  }
}

/**
 * Pieces of a text file as UTF-8 that end with a line; those of delimited text end outside quotes, and the first one
 * has a row, so that it shows what stands in front of the rows.
 */
async function* textPieces(
  file: string,
  { reading, blockBytes = usualBlockBytes }: RawBlockOptions,
  isDelimited: boolean,
): AsyncGenerator<LinePiece> {
  const isOther = reading !== null && reading.encoding !== null && !isNamedUtf8(reading.encoding);
  const isUtf8File = isOther && (await isPlainlyUtf8File(file, blockBytes));
  const encoding = reading === null ? null : encodingFor({ reading }, () => isUtf8File);
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
    // Quotes in comments need no partner.
    const ahead = isDelimited && linesBefore === 0 ? bytesAhead(whole, reading) : 0;
    const lineEnd = lastLineEnd(whole, isDelimited, ahead);
    const end = lineEnd > ahead ? lineEnd : 0;
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

/**
 * The bytes of the first rows of a file of text; null where it is not much larger than that, or rows cannot be told
 * apart in its bytes.
 * @param most bytes
 */
export async function firstRows(file: string, most: number): Promise<Buffer | null> {
  const isPlainText =
    ![readers.Excel, readers.JSON, readers.Parquet, readers.Arrow].includes(readerOf(file)) && !isPacked(file);
  if (!isPlainText || (await stat(file)).size < 2 * most) return null;
  const text = await readBeginning(file, most);
  if ((markOf(text)?.encoding ?? 'utf-8') !== 'utf-8' || text.includes(0)) return null;
  const end = lastLineEnd(text, readerOf(file) !== readers['JSON lines'], bytesAhead(text, null));
  return end === 0 ? null : text.subarray(0, end);
}

const readMark = async (file: string) => markOf(await readBeginning(file, mostMarkBytes));

async function readBeginning(file: string, most: number): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(most) });
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** The byte after the last line end outside quotes; 0 if there is none. Quotes in front of `from` do not count. */
function lastLineEnd(text: Buffer, hasQuotes: boolean, from: number): number {
  if (!hasQuotes || !text.includes(quote, from)) {
    const end = text.lastIndexOf(lineFeed);
    return end >= 0 ? end + 1 : text.lastIndexOf(carriageReturn) + 1;
  }
  let isInside = false;
  let last = 0;
  for (let i = from; i < text.length; i++) {
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
