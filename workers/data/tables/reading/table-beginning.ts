import type { Delimiter, TableReading } from '../../../../core/preprocessing/reading.ts';
import { delimiterLike, delimiterOfLine, detectDelimiter, separatorLine, shownBytes } from '../../sources/delimited.ts';

/** How to read delimited text. */
export interface DelimitedOptions {
  /**
   * Separates fields. `auto` (default) uses what the first lines have equally often: a semicolon, a tab, a comma, a
   * bar, else white space.
   */
  delimiter?: Delimiter | 'auto';
  /**
   * Whether the first line names the columns. `auto` (default): yes if none of its fields is a number, or if it differs
   * in kind from all rows below.
   */
  header?: boolean | 'auto';
  /**
   * Lines at the beginning that are comments, and left out. `auto` (default): those that begin with `#`, `%` or `|` up
   * to the last one that cannot name the columns, because it has too few or too many fields.
   */
  commentLines?: number | 'auto';
}

/** What stands in front of the names or the first row of delimited text, and how the text below is read. */
interface TableBeginning {
  bytes: number;
  lines: number;
  /** The lines of comment. */
  comments: string[];
  delimiter: Delimiter;
  header: boolean | 'auto';
}

const commentSign = /^\s*[#%|]/;
const wholeLine = /[^\r\n]*(?:\r\n|\n|\r)/g;

/**
 * Reads what stands in front of a table: the line `sep=;` of Excel, and comments.
 * @param options what the user says, or how the training table was read
 * @param usual the delimiter of all files of the format; null: any
 * @throws Error for a delimiter that is not known, and where there are fewer lines than the user says
 */
export function beginningOf(
  text: Buffer,
  file: string,
  { reading, ...own }: DelimitedOptions & { reading?: TableReading },
  usual: Delimiter | null,
): TableBeginning {
  const given: DelimitedOptions = reading === undefined ? own : { header: reading.header ?? 'auto' };
  const separator = separatorLine(text, file);
  const fixed = given.delimiter ?? separator?.delimiter ?? usual ?? 'auto';
  const delimiterOf = (rows: Buffer): Delimiter => {
    if (fixed !== 'auto') return fixed;
    if (separator !== null) return separator.delimiter;
    return reading === undefined ? detectDelimiter(rows) : delimiterLike(rows, reading.delimiter);
  };
  const start = separator?.bytes ?? 0;
  const { commentLines = 'auto', header = 'auto' } = given;
  const lines =
    commentLines === 'auto'
      ? findComments(text.subarray(start), delimiterOf, reading)
      : firstLines(text.subarray(start), commentLines, file);
  const bytes = start + Buffer.byteLength(lines.join(''));
  const comments = lines.map((line) => line.trim());
  const linesAhead = lines.length + (separator === null ? 0 : 1);
  return { bytes, lines: linesAhead, comments, delimiter: delimiterOf(text.subarray(bytes)), header };
}

/** The bytes of the lines at the beginning that are no rows: blank ones, comments, `sep=;`, and names like `#id`. */
export function bytesAhead(text: Buffer, reading: TableReading | null): number {
  const start = delimiterOfLine(text)?.bytes ?? 0;
  return start + Buffer.byteLength(linesAhead(text.subarray(start), reading?.comments ?? []).join(''));
}

function linesAhead(text: Buffer, known: readonly string[]): string[] {
  const lines = linesOf(text);
  const end = lines.findIndex((line) => {
    return line.trim() !== '' && !commentSign.test(line) && !known.includes(line.trim());
  });
  return end < 0 ? lines : lines.slice(0, end);
}

/** The first whole lines, with their ends. */
const linesOf = (text: Buffer): string[] => text.toString('utf8', 0, shownBytes).match(wholeLine) ?? [];

/**
 * Lines of comment. In later files they are also those of the training table, and a line that has none of its names is
 * no line of names.
 */
function findComments(
  text: Buffer,
  delimiterOf: (rows: Buffer) => Delimiter,
  reading: TableReading | undefined,
): string[] {
  const known = reading?.comments.filter((line) => line !== '') ?? [];
  const ahead = linesAhead(text, known);
  if (ahead.every((line) => line.trim() === '')) return [];
  const rows = text.subarray(Buffer.byteLength(ahead.join('')));
  const delimiter = delimiterOf(rows);
  const row = fieldsOf(rows.toString('utf8', 0, shownBytes), delimiter);
  if (row.length === 0) return [];
  const names = reading?.header ? [...reading.columns, ...reading.leftOut].map(({ name }) => name) : null;
  const canName = (line: string): boolean => {
    const fields = fieldsOf(line, delimiter);
    const width = filled(fields);
    // Lines may end in more or fewer delimiters.
    return width >= filled(row) && width <= row.length && (names === null || fields.some((own) => names.includes(own)));
  };
  const last = ahead.findLastIndex((line) => line.trim() !== '' && (known.includes(line.trim()) || !canName(line)));
  return ahead.slice(0, last + 1);
}

/** The fields of the first line that is not blank. What stands in quotes counts, and is not kept. */
function fieldsOf(text: string, delimiter: Delimiter): string[] {
  const [line] = /\S.*/.exec(text.replace(/"[^"]*"/g, 'x')) ?? [];
  if (line === undefined) return [];
  if (delimiter === 'whitespace') return line.trim().split(/[ \t]+/);
  return line.split(delimiter).map((field) => field.trim());
}

/** Number of fields up to the last one that is not empty. */
const filled = (fields: readonly string[]): number => fields.findLastIndex((field) => field !== '') + 1;

function firstLines(text: Buffer, count: number, file: string): string[] {
  const lines = linesOf(text);
  if (lines.length >= count) return lines.slice(0, count);
  throw new Error(
    `${file}: commentLines is ${count}, and its first ${shownBytes} bytes have ${lines.length} whole lines. Give the ` +
      'number of lines in front of the names, or of the first row.',
  );
}
