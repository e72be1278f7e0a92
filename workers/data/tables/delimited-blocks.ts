import { basename } from 'node:path';
import type { Delimiter, TableReading } from '../../../core/preprocessing/reading.ts';
import { isDecimal, type IsMissing, type RawTable } from './cells.ts';
import { parseNumberRows } from './number-rows.ts';
import { parseDelimited, type TextPiece } from './raw-table.ts';
import type { ChosenColumn } from './reading/choose-columns.ts';
import { beginningOf } from './reading/table-beginning.ts';
import type { Table } from './table.ts';

/** How to read delimited text in pieces. */
interface DelimitedBlocksOptions {
  /** The name in messages. */
  file: string;
  /** The wanted columns; null: not known yet. */
  wanted: ReadonlyMap<string, ChosenColumn> | null;
  /** How the training table was read; null: not known. */
  reading: TableReading | null;
  /** The delimiter of all files of the format; null: any. */
  usual: Delimiter | null;
  isMissing: IsMissing;
}

const [quote, lineFeed] = [0x22, 0x0a];

/**
 * The rows of pieces that end with a row: with types at once where all wanted columns are plain numbers, else as cells.
 * @throws Error that names file, line and what is wrong
 */
export async function* delimitedBlocks(
  pieces: AsyncIterable<{ text: Buffer; linesBefore: number }>,
  options: DelimitedBlocksOptions,
): AsyncGenerator<RawTable | Table> {
  const { file, isMissing, reading, usual } = options;
  let beginning: ReturnType<typeof beginningOf> | null = null;
  let known: TextPiece['known'] = null;
  for await (const { text, linesBefore } of pieces) {
    const how = (beginning ??= beginningOf(text, file, reading === null ? {} : { reading }, usual));
    const ahead = linesBefore === 0 ? how : { bytes: 0, lines: 0 };
    const body: Buffer = text.subarray(ahead.bytes);
    const before: TextPiece = { linesBefore: linesBefore + ahead.lines, known };
    const parse = (part: Buffer): RawTable => parseDelimited(part, file, isMissing, how, before);
    const header: Header | null = known === null ? headerOf(body, parse) : { columns: known, bytes: 0 };
    const block: Table | null =
      header === null ? null : numberBlock(body.subarray(header.bytes), header, how.delimiter, options);
    const rows: RawTable | Table = block ?? parse(body);
    const found: TextPiece['known'] = 'source' in rows ? rows : (header?.columns ?? null);
    if (known === null && found !== null && found.columns.length > 0) known = found;
    yield rows;
  }
}

/** The columns of a file, and the bytes of the line with their names. */
interface Header {
  columns: Pick<RawTable, 'columns' | 'nameless'>;
  bytes: number;
}

/** The names in the first line; null where the line is data, is blank, or may end inside quotes. */
function headerOf(text: Buffer, parse: (line: Buffer) => RawTable): Header | null {
  const bytes = text.indexOf(lineFeed) + 1;
  if (bytes === 0 || text.includes(quote)) return null;
  const found = parse(text.subarray(0, bytes));
  return found.length > 0 || found.columns.length === 0 ? null : { columns: found, bytes };
}

/** A typed table; null where not all wanted columns are there and plain numbers. */
function numberBlock(
  text: Buffer,
  { columns: { columns } }: Header,
  delimiter: Delimiter,
  { file, wanted, reading, isMissing }: DelimitedBlocksOptions,
): Table | null {
  // The fast reader asks only what is no number whether it is missing.
  if (reading?.missingValues.some(isDecimal)) return null;
  if (wanted === null || delimiter === 'whitespace') return null;
  if (![...wanted.values()].every(({ type, numberFormat }) => type === 'number' && numberFormat === null)) return null;
  const names = [...wanted.keys()];
  const positions = names.map((name) => columns.findIndex((column) => column.name === name));
  if (positions.includes(-1)) return null;
  const rows = { delimiter: delimiter.charCodeAt(0), width: columns.length, wanted: positions, isMissing };
  const values = parseNumberRows(text, rows);
  if (values === null) return null;
  return {
    name: basename(file),
    length: values[0]?.length ?? 0,
    columns: names.map((name, i) => ({ name, type: 'number', values: values[i] })),
  };
}
