import { isDecimal } from './cells.ts';

/** How to read rows of numbers. */
export interface NumberRowsOptions {
  /** The byte between fields. */
  delimiter: number;
  /** Number of fields in a row. */
  width: number;
  /** Fields that are wanted, counted from 0. */
  wanted: readonly number[];
  /** Whether a text stands for a missing value. */
  isMissing: (field: string) => boolean;
}

const [tab, lineFeed, carriageReturn, space, quote] = [0x09, 0x0a, 0x0d, 0x20, 0x22];
const [plus, minus, point, zero, nine] = [0x2b, 0x2d, 0x2e, 0x30, 0x39];
const powersOfTen = Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);
/**
 * Integers of so many digits, and these powers of ten, are exact: one division rounds as a decimal number must be
 * rounded.
 */
const exactDigits = 15;

/**
 * Reads delimited text of which the wanted fields are decimal numbers, in a tenth of the time that `parseDelimited`
 * takes, with the same values.
 * @returns the wanted columns, NaN where a value is missing; null for text that is not that simple (quotes, other
 * blanks, uneven or empty rows, fields that are no numbers), which `parseDelimited` must read
 */
export function parseNumberRows(text: Buffer, options: NumberRowsOptions): Float64Array[] | null {
  const { delimiter, width, wanted } = options;
  if (delimiter === space || text.includes(quote)) return null;
  const reader = new FieldReader(text, options);
  const capacity = reader.countLines();
  const columns = wanted.map(() => new Float64Array(capacity));
  const targets = Array.from(
    { length: width },
    (_, field) => columns[wanted.indexOf(field)] as Float64Array | undefined,
  );
  let rows = 0;
  while (!reader.isAtEnd()) {
    if (reader.skipLineEnd()) continue;
    if (reader.isEmptyRow()) return null;
    for (let field = 0; field < width; field++) {
      const target = targets[field];
      if (target === undefined) reader.skipField();
      else target[rows] = reader.readNumber();
      if (!reader.endField(field === width - 1)) return null;
    }
    rows++;
  }
  return columns.map((column) => column.subarray(0, rows));
}

class FieldReader {
  readonly #text: Buffer;
  readonly #delimiter: number;
  readonly #isMissing: (field: string) => boolean;
  #at = 0;
  #hasFailed = false;

  constructor(text: Buffer, { delimiter, isMissing }: NumberRowsOptions) {
    this.#text = text;
    this.#delimiter = delimiter;
    this.#isMissing = isMissing;
  }

  isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Lines that there are at most. */
  countLines(): number {
    let lines = 1;
    for (const end of [lineFeed, carriageReturn]) {
      for (let at = this.#text.indexOf(end); at >= 0; at = this.#text.indexOf(end, at + 1)) lines++;
    }
    return lines;
  }

  skipLineEnd(): boolean {
    const byte = this.#text[this.#at];
    if (byte !== lineFeed && byte !== carriageReturn) return false;
    this.#at++;
    return true;
  }

  /** Whether the row has delimiters and blanks alone. */
  isEmptyRow(): boolean {
    let at = this.#at;
    while (this.#text[at] === this.#delimiter || this.#isBlank(this.#text[at])) at++;
    return (
      at > this.#at && (at >= this.#text.length || this.#text[at] === lineFeed || this.#text[at] === carriageReturn)
    );
  }

  skipField(): void {
    this.#at = this.#endOfField();
  }

  /** Moves behind the field's end. Returns false where a row has another number of fields, or a field was no number. */
  endField(isLast: boolean): boolean {
    if (this.#hasFailed) return false;
    const byte = this.#text[this.#at];
    if (this.isAtEnd() || byte === lineFeed || byte === carriageReturn) return isLast;
    if (isLast || byte !== this.#delimiter) return false;
    this.#at++;
    return true;
  }

  /** A number, or NaN for a missing value. After a field that is neither, {@link endField} fails. */
  readNumber(): number {
    const text = this.#text;
    let at = this.#at;
    while (this.#isBlank(text[at])) at++;
    const sign = text[at];
    if (sign === minus || sign === plus) at++;
    const first = at;
    let digits = 0;
    for (; text[at] >= zero && text[at] <= nine; at++) digits = digits * 10 + (text[at] - zero);
    let count = at - first;
    let decimals = 0;
    if (text[at] === point) {
      const start = ++at;
      for (; text[at] >= zero && text[at] <= nine; at++) digits = digits * 10 + (text[at] - zero);
      decimals = at - start;
      count += decimals;
    }
    while (this.#isBlank(text[at])) at++;
    if (count === 0 || count > exactDigits || !this.#endsField(at)) return this.#readOther();
    this.#at = at;
    const value = decimals === 0 ? digits : digits / powersOfTen[decimals];
    return sign === minus ? -value : value;
  }

  /** A number with an exponent or more digits, or a missing value. */
  #readOther(): number {
    const end = this.#endOfField();
    const field = this.#text.toString('utf8', this.#at, end);
    const trimmed = field.replace(/^[ \t]+|[ \t]+$/g, '');
    this.#at = end;
    if (this.#isMissing(trimmed)) return Number.NaN;
    if (!isDecimal(trimmed)) this.#hasFailed = true;
    return Number(trimmed);
  }

  #endOfField(): number {
    let at = this.#at;
    while (!this.#endsField(at)) at++;
    return at;
  }

  #endsField(at: number): boolean {
    const byte = this.#text[at];
    return at >= this.#text.length || byte === this.#delimiter || byte === lineFeed || byte === carriageReturn;
  }

  #isBlank(byte: number): boolean {
    return byte === space || (byte === tab && this.#delimiter !== tab);
  }
}
