import { basename } from 'node:path';
import { type Delimiter, detectDelimiter } from '../sources/delimited.ts';
import type { RawTable } from './cells.ts';
import type { ColumnType } from './columns.ts';
import { parseNumberRows } from './number-rows.ts';
import { parseDelimited } from './raw-table.ts';
import type { Table } from './table.ts';

/** How to read delimited text in pieces. */
interface DelimitedBlocksOptions {
  /** For messages. */
  file: string;
  /** Types of the wanted columns; null: not known yet. */
  types: Readonly<Record<string, ColumnType>> | null;
  /** Null: recognised. */
  delimiter: Delimiter | null;
  isMissing: (field: string) => boolean;
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
  const { file, isMissing } = options;
  let { delimiter } = options;
  let names: string[] | null = null;
  for await (const { text, linesBefore } of pieces) {
    const own = (delimiter ??= detectDelimiter(text));
    const known: string[] | null = names;
    const parse = (part: Buffer, lines: number): RawTable =>
      parseDelimited(part, file, isMissing, { delimiter: own }, { linesBefore: lines, names: known });
    const header: Header | null =
      known === null ? headerOf(text, (line) => parse(line, linesBefore)) : { names: known, bytes: 0 };
    const block: Table | null =
      header === null ? null : numberBlock(text.subarray(header.bytes), header.names, own, options);
    const rows: RawTable | Table = block ?? parse(text, linesBefore);
    names ??= rows.columns.length === 0 ? null : (header?.names ?? rows.columns.map(({ name }) => name));
    yield rows;
  }
}

/** The names of a file's columns, and the bytes of their line. */
interface Header {
  names: string[];
  bytes: number;
}

/** The names in the first line; null where the line is data, is blank, or may end inside quotes. */
function headerOf(text: Buffer, parse: (line: Buffer) => RawTable): Header | null {
  const bytes = text.indexOf(lineFeed) + 1;
  if (bytes === 0 || text.includes(quote)) return null;
  const { length, columns } = parse(text.subarray(0, bytes));
  return length > 0 || columns.length === 0 ? null : { names: columns.map(({ name }) => name), bytes };
}

/** A typed table; null where not all wanted columns are there and plain numbers. */
function numberBlock(
  text: Buffer,
  names: readonly string[],
  delimiter: Delimiter,
  { file, types, isMissing }: DelimitedBlocksOptions,
): Table | null {
  if (types === null || delimiter === 'whitespace' || !Object.values(types).every((type) => type === 'number'))
    return null;
  const wanted = Object.keys(types).map((name) => names.indexOf(name));
  if (wanted.includes(-1)) return null;
  const rows = { delimiter: delimiter.charCodeAt(0), width: names.length, wanted, isMissing };
  const columns = parseNumberRows(text, rows);
  if (columns === null) return null;
  return {
    name: basename(file),
    length: columns[0]?.length ?? 0,
    columns: Object.keys(types).map((name, i) => ({ name, type: 'number', values: columns[i] })),
  };
}
