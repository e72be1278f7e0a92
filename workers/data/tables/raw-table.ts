import { type Delimiter, forEachRow, type Row } from '../sources/delimited.ts';
import { type Cell, isDecimal, type RawTable } from './cells.ts';

/** More columns, or cells in all, than this are refused: a small damaged file must not fill the memory. */
const mostColumns = 10_000;
const mostCells = 2 ** 28;

/** @throws Error if a table is larger than what is read at once */
export function checkSize(source: string, rows: number, columns: number): void {
  if (columns <= mostColumns && rows * columns <= mostCells) return;
  throw new Error(
    `${source} has ${columns} columns and ${rows} rows; a table has at most ${mostColumns} columns and ${mostCells} cells. ` +
      'Divide it, or give its values as arrays (createDataset).',
  );
}

/** How to read delimited text. */
export interface DelimitedOptions {
  /** Separates fields. `auto` (default) uses the first line: a semicolon if it has one, else a comma, else white space. */
  delimiter?: Delimiter | 'auto';
  /** Whether the first line names the columns. `auto` (default): yes if none of its fields is a number. */
  header?: boolean | 'auto';
}

/** Where a piece of a file's text lies in it. */
export interface TextPiece {
  /** Lines in front of it. */
  linesBefore: number;
  /** The columns' names, of an earlier piece; null: the first piece. */
  names: readonly string[] | null;
}

/** Reads delimited text (UTF-8, RFC 4180 quotes). Columns without names are `column 1`, `column 2`, ... */
export function parseDelimited(
  text: Buffer,
  source: string,
  isMissing: (field: string) => boolean,
  { delimiter = 'auto', header = 'auto' }: DelimitedOptions,
  { linesBefore, names }: TextPiece = { linesBefore: 0, names: null },
): RawTable {
  let columns: RawTable['columns'] = (names ?? []).map((name) => ({ name, cells: [] }));
  let length = 0;
  let hasNames = false;
  const visitRow = (visit: (row: Row) => void) => forEachRow(text, source, delimiter, visit, linesBefore);
  visitRow(({ fields, place }) => {
    if (columns.length === 0) {
      hasNames = header === 'auto' ? fields.every((field) => !isDecimal(field)) : header;
      columns = fields.map((name, i) => ({ name: hasNames ? name : `column ${i + 1}`, cells: [] }));
      checkSize(source, 0, columns.length);
      if (hasNames) return;
    }
    if (fields.length !== columns.length) throw uneven(place(), fields.length, columns.length);
    fields.forEach((field, i) => columns[i].cells.push(isMissing(field) ? null : field));
    length++;
    checkSize(source, length, columns.length);
  });
  const placeOf = (row: number) => placeOfRow(source, visitRow, row + (hasNames ? 1 : 0));
  return { source, columns, length, hasNames: hasNames || names !== null, placeOf };
}

/** Reads the text again up to the row: keeping the place of every row would take more memory than the values. */
function placeOfRow(source: string, visitRow: (visit: (row: Row) => void) => void, wanted: number): string {
  let row = 0;
  let found = source;
  visitRow(({ place }) => {
    if (row++ === wanted) found = place();
  });
  return found;
}

function uneven(place: string, fields: number, columns: number): Error {
  return new Error(
    `${place}: ${fields} fields, the first line has ${columns}. Give every line the same number, ` +
      'and set the delimiter if it was not recognised.',
  );
}

/** Reads one JSON object a line. A column is missing in rows that lack its key. */
export function parseJsonLines(
  text: string,
  source: string,
  isMissing: (field: string) => boolean,
  linesBefore = 0,
): RawTable {
  const columns = new Map<string, Cell[]>();
  const lines: number[] = [];
  let lineNumber = linesBefore;
  for (const line of text.replace(/^\uFEFF/, '').split('\n')) {
    lineNumber++;
    if (line.trim() === '') continue;
    const place = `${source}, line ${lineNumber}`;
    for (const [name, value] of Object.entries(parseObject(line, place))) {
      let cells = columns.get(name);
      if (cells === undefined) columns.set(name, (cells = []));
      while (cells.length < lines.length) cells.push(null);
      cells.push(plainCell(value, name, place, isMissing));
    }
    lines.push(lineNumber);
    checkSize(source, lines.length, columns.size);
  }
  const padded = [...columns].map(([name, cells]) => {
    while (cells.length < lines.length) cells.push(null);
    return { name, cells };
  });
  const placeOf = (row: number) => `${source}, line ${lines[row]}`;
  return { source, columns: padded, length: lines.length, hasNames: true, placeOf };
}

function parseObject(line: string, place: string): Record<string, unknown> {
  let value: unknown = null;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new Error(`${place}: it is not JSON. Give one object a line.`, { cause: error });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Error(`${place}: it is not an object. Give one object a line, with the columns' names as keys.`);
}

function plainCell(value: unknown, name: string, place: string, isMissing: (field: string) => boolean): Cell {
  if (typeof value === 'string') return isMissing(value) ? null : value;
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  throw new Error(
    `${place}: "${name}" holds a list or an object. A cell is a number, a text, true, false or null: give each part a column.`,
  );
}
