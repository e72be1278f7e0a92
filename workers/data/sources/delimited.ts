import { CsvError, parse } from 'csv-parse/sync';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

export type Delimiter = 'whitespace' | ',' | ';' | '\t';

/** One row of the text: its fields, and where it begins. */
export interface Row {
  fields: string[];
  /** `<file>, line <n>`, n counted from 1. Counting lines takes time, so call it for error messages only. */
  place: () => string;
}

/**
 * Calls `visit` for each row of a UTF-8 text, without its blank lines. A field may stand in double quotes (RFC 4180): it may then
 * hold delimiters and line ends, and a doubled quote stands for one. Space around a field is removed, inside quotes it is kept.
 * Lines may end in CR LF, LF or CR, also mixed. Rows are not kept, so that a large file costs no more than its bytes.
 * @param linesBefore lines of the file in front of the text, for messages
 * @throws Error that names file, line and remedy where quotes are not well-formed.
 */
export function forEachRow(
  text: Buffer,
  file: string,
  delimiter: Delimiter | 'auto',
  visit: (row: Row) => void,
  linesBefore = 0,
): void {
  const chosen = delimiter === 'auto' ? detectDelimiter(text) : delimiter;
  let start = 0;
  const place = () => `${file}, line ${linesBefore + lineOf(text, start)}`;
  try {
    parse(text, {
      bom: true,
      delimiter: chosen === 'whitespace' ? [' ', '\t'] : chosen,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
      on_record: (record: string[], { bytes }) => {
        // Every blank is a delimiter to the parser: a run of them leaves empty fields.
        const fields = chosen === 'whitespace' ? record.filter((field) => field !== '') : record;
        if (fields.length > 0) visit({ fields, place });
        start = bytes;
        return null;
      },
    });
  } catch (error) {
    throw error instanceof CsvError ? new Error(`${place()}: ${explain(error)}`, { cause: error }) : error;
  }
}

/** The first line decides: semicolon before comma (which may be a decimal comma then), white space if it has neither. */
export function detectDelimiter(text: Buffer): Delimiter {
  const firstLine =
    /[^\r\n]*/.exec(
      text
        .toString('utf8', 0, 2 ** 16)
        .replace(/"[^"]*"/g, '')
        .trimStart(),
    )?.[0] ?? '';
  return ([';', ','] as const).find((candidate) => firstLine.includes(candidate)) ?? 'whitespace';
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
