import { CsvError, parse } from 'csv-parse/sync';
import { type Delimiter, delimiterSchema } from '../../../core/preprocessing/reading.ts';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** The delimiter shows in these lines, */
const shownLines = 20;
/** and in so many bytes, as comments in front of them do. */
export const shownBytes = 2 ** 16;
/** A semicolon comes before a comma, which may be a decimal comma then. */
const candidates = [';', '\t', ',', '|'] as const;

/** One row of the text: its fields, and where it begins. */
export interface Row {
  fields: string[];
  /** Bytes of the text up to the end of the row. */
  end: number;
  /** `<file>, line <n>`, n counted from 1. Counting lines takes time, so call it for error messages only. */
  place: () => string;
}

/**
 * Calls `visit` for each row of a UTF-8 text, without its blank lines. A field may stand in double quotes (RFC 4180):
 * it may then hold delimiters and line ends, and a doubled quote stands for one. Space around a field is removed,
 * inside quotes it is kept. Lines may end in CR LF, LF or CR, also mixed. Rows are not kept, so that a large file costs
 * no more than its bytes.
 * @param linesBefore lines of the file in front of the text, for messages
 * @throws Error that names file, line and remedy where quotes are not well-formed.
 */
export function forEachRow(
  text: Buffer,
  file: string,
  delimiter: Delimiter,
  visit: (row: Row) => void,
  linesBefore = 0,
): void {
  let start = 0;
  const place = () => `${file}, line ${linesBefore + lineOf(text, start)}`;
  try {
    parse(text, {
      bom: true,
      delimiter: delimiter === 'whitespace' ? [' ', '\t'] : delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
      on_record: (record: string[], { bytes }) => {
        // Every blank is a delimiter to the parser: a run of them leaves empty fields.
        const fields = delimiter === 'whitespace' ? record.filter((field) => field !== '') : record;
        if (fields.length > 0) visit({ fields, end: bytes, place });
        start = bytes;
        return null;
      },
    });
  } catch (error) {
    throw error instanceof CsvError ? new Error(`${place()}: ${explain(error)}`, { cause: error }) : error;
  }
}

/**
 * The delimiter that each of the first lines has equally often; where none has, the first line decides: semicolon
 * before comma, white space if it has neither.
 */
export function detectDelimiter(text: Buffer): Delimiter {
  const lines = text
    .toString('utf8', 0, shownBytes)
    .replace(/"[^"]*"/g, '')
    .split(/[\r\n]+/)
    .filter((line) => line.trim() !== '');
  // The last line may be cut.
  const whole = lines.slice(0, text.length > shownBytes && lines.length > 1 ? -1 : undefined).slice(0, shownLines);
  const countIn = (line: string, delimiter: string) => line.split(delimiter).length - 1;
  const [first = ''] = whole;
  const even = candidates.find((delimiter) => {
    const count = countIn(first, delimiter);
    return count > 0 && whole.every((line) => countIn(line, delimiter) === count);
  });
  return even ?? ([';', ','] as const).find((delimiter) => first.includes(delimiter)) ?? 'whitespace';
}

/**
 * The delimiter of a table like one that was separated by `known`: the same if the first line has it, or no other one.
 */
export function delimiterLike(text: Buffer, known: Delimiter | null): Delimiter {
  const [firstLine = ''] = text.toString('utf8', 0, shownBytes).split(/[\r\n]/, 1);
  if (known !== null && known !== 'whitespace' && firstLine.includes(known)) return known;
  const detected = detectDelimiter(text);
  return detected === 'whitespace' ? (known ?? detected) : detected;
}

/**
 * The line `sep=;` with which Excel says what separates the fields: the delimiter, and the bytes of that line; null
 * where the first line is another one.
 * @throws Error for a delimiter that is not known
 */
export function separatorLine(text: Buffer, file: string): { delimiter: Delimiter; bytes: number } | null {
  const line = delimiterOfLine(text);
  if (line === null) return null;
  const { separator, bytes } = line;
  const delimiter = delimiterSchema.safeParse(separator);
  if (delimiter.success) return { delimiter: delimiter.data, bytes };
  const known = candidates.map((own) => JSON.stringify(own)).join(', ');
  throw new Error(`${file}, line 1: sep=${separator} names a delimiter that is not known. Use one of ${known}.`);
}

/** The sign that the line names, which may be no delimiter. */
export function delimiterOfLine(text: Buffer): { separator: string; bytes: number } | null {
  const [line, separator] = /^\s*"?sep=(.)"?[ ]*(?:\r\n|\n|\r|$)/i.exec(text.toString('utf8', 0, 32)) ?? [];
  return line === undefined || separator === undefined ? null : { separator, bytes: Buffer.byteLength(line) };
}

/** The line, counted from 1, of the first byte from `offset` on that is not white space. */
function lineOf(text: Buffer, offset: number): number {
  let line = 1;
  for (let i = 0; i < offset || isBlank(text[i]); i++) {
    const endsLine = text[i] === lineFeed || (text[i] === carriageReturn && text[i + 1] !== lineFeed);
    if (endsLine) line++;
  }
  return line;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === lineFeed || byte === carriageReturn;
}

function explain({ code, message }: CsvError): string {
  switch (code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'a quote is opened in this row and not closed. Close it, or double a quote that belongs to the text.';
    case 'INVALID_OPENING_QUOTE':
      return 'a quote stands inside a field without quotes. Put the whole field in quotes and double the quote inside.';
    case 'CSV_INVALID_CLOSING_QUOTE':
    case 'CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE':
      return 'text follows a closing quote. End the field there, or double a quote that belongs to the text.';
    default:
      return message;
  }
}
