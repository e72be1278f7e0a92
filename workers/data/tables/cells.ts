import type { Finding } from '../../../core/preprocessing/profile.ts';
import { decodeUtf8 } from '../../../core/text/host.ts';
import { parseDate } from './reading/dates.ts';

/** A value as a file holds it. */
type Value = string | number | bigint | boolean | Date;

/** A value; null where it is missing. */
export type Cell = Value | null;

/** So many distinct texts of a column are kept once. */
const usuallyRemembered = 2 ** 14;
const missingCode = -1;
/** The code of the first text in the bytes; those after it have smaller ones. */
const firstTextCode = -2;

/**
 * The cells of a column, by row. A file of some hundred megabytes has more cells than V8's heap can hold as texts, so
 * that repeated texts are kept once, and the others as bytes outside of the heap.
 */
export class Cells implements Iterable<Cell> {
  /** One code for each row: a position in `#kept`, {@link missingCode}, or that of a text in the bytes. */
  #codes = new Int32Array(16);
  readonly #mostRemembered: number;
  /** Repeated texts, texts that are not ASCII, and all that is no text. */
  readonly #kept: Value[] = [];
  readonly #codeOf = new Map<string, number>();
  #bytes = new Uint8Array(0);
  /** Where each text ends in the bytes. */
  #ends = new Uint32Array(0);
  #texts = 0;
  #length = 0;
  #present = 0;

  /** @param mostRemembered distinct texts that are kept once */
  constructor(mostRemembered = usuallyRemembered) {
    this.#mostRemembered = mostRemembered;
  }

  static from(cells: Iterable<Cell>): Cells {
    const made = new Cells();
    for (const cell of cells) made.push(cell);
    return made;
  }

  /** Number of rows, N. */
  get length(): number {
    return this.#length;
  }

  /** How many rows have a value. */
  get present(): number {
    return this.#present;
  }

  push(cell: Cell): void {
    if (this.#length === this.#codes.length) this.#codes = grown(this.#codes, Int32Array);
    this.#codes[this.#length++] = cell === null ? missingCode : this.#codeFor(cell);
    if (cell !== null) this.#present++;
  }

  /** Puts a cell in front of all others. */
  pushFront(cell: Cell): void {
    this.push(cell);
    const own = this.#codes[this.#length - 1];
    this.#codes.copyWithin(1, 0, this.#length - 1);
    this.#codes[0] = own;
  }

  at(row: number): Cell {
    return this.#cellOf(this.#codes[row]);
  }

  isMissingAt(row: number): boolean {
    return this.#codes[row] === missingCode;
  }

  *[Symbol.iterator](): Generator<Cell, undefined> {
    for (let row = 0; row < this.#length; row++) yield this.at(row);
  }

  /** All values, those of repeated texts once. Their order is not that of the rows. */
  *values(): Generator<Value, undefined> {
    yield* this.#kept;
    for (let text = 0; text < this.#texts; text++) yield this.#textAt(text);
  }

  /** Whether a test holds for all values; it does where there are none. */
  every(test: (value: Value) => boolean): boolean {
    for (const value of this.values()) if (!test(value)) return false;
    return true;
  }

  /** Whether a test holds for a value. */
  some(test: (value: Value) => boolean): boolean {
    return !this.every((value) => !test(value));
  }

  /** The number of distinct values, counted up to `most`. */
  distinct(most = Infinity): number {
    const found = new Set<Value>();
    for (const value of this.values()) {
      found.add(value);
      if (found.size >= most) break;
    }
    return found.size;
  }

  /**
   * What `read` makes of each row's value. Of a repeated text, it is called for the first row only.
   * @param missing what stands for a missing value
   */
  map<T>(read: (value: Value, row: number) => T, missing: T): T[] {
    const known: T[] = [];
    const isKnown = new Uint8Array(this.#kept.length);
    const found: T[] = [];
    for (let row = 0; row < this.#length; row++) {
      const code = this.#codes[row];
      if (code === missingCode) found.push(missing);
      else if (code < 0) found.push(read(this.#textAt(firstTextCode - code), row));
      else {
        if (isKnown[code] === 0) {
          known[code] = read(this.#kept[code], row);
          isKnown[code] = 1;
        }
        found.push(known[code]);
      }
    }
    return found;
  }

  #codeFor(value: Value): number {
    if (typeof value !== 'string') return this.#kept.push(value) - 1;
    const known = this.#codeOf.get(value);
    if (known !== undefined) return known;
    if (this.#codeOf.size < this.#mostRemembered) {
      this.#codeOf.set(value, this.#kept.length);
      return this.#kept.push(value) - 1;
    }
    return this.#keepAsBytes(value) ? firstTextCode - (this.#texts - 1) : this.#kept.push(value) - 1;
  }

  /** @returns false for text that is not ASCII, or beyond four gigabytes */
  #keepAsBytes(text: string): boolean {
    const start = this.#texts === 0 ? 0 : this.#ends[this.#texts - 1];
    const end = start + text.length;
    if (end >= 2 ** 32) return false;
    if (end > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(2 * this.#bytes.length, end, 2 ** 16));
      larger.set(this.#bytes.subarray(0, start));
      this.#bytes = larger;
    }
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 127) return false;
      this.#bytes[start + i] = code;
    }
    if (this.#texts === this.#ends.length) this.#ends = grown(this.#ends, Uint32Array);
    this.#ends[this.#texts++] = end;
    return true;
  }

  #cellOf(code: number): Cell {
    if (code === missingCode) return null;
    return code < 0 ? this.#textAt(firstTextCode - code) : this.#kept[code];
  }

  #textAt(text: number): string {
    return decodeUtf8(this.#bytes.subarray(text === 0 ? 0 : this.#ends[text - 1], this.#ends[text]));
  }
}

/** A copy of an array with room for as many values again. */
function grown<T extends Int32Array | Uint32Array>(array: T, kind: new (length: number) => T): T {
  const larger = new kind(Math.max(2 * array.length, 2 ** 10));
  larger.set(array);
  return larger;
}

/** The cells of a column, before it has a type. */
export interface RawColumn {
  name: string;
  cells: Cells;
  /** How many cells count as missing, by their text; cells that the file leaves out are those of the empty text. */
  missing: Map<string, number>;
}

/** A table's cells, before their columns have types. */
export interface RawTable {
  /** Name of the file, for messages. */
  source: string;
  columns: RawColumn[];
  /** Number of rows, N. */
  length: number;
  /** Whether the file gives the columns names. */
  hasNames: boolean;
  /**
   * Positions, from 0, of columns without a name, which are called `column 1`, `column 2`, ...; none where no column
   * has one.
   */
  nameless?: readonly number[];
  /**
   * Rows without any value, which were left out, in their order: for each, how many of the rows that are kept lie in
   * front of it; -1 if it lies in front of the names.
   */
  emptyRows?: readonly number[];
  /** What a person should know of the file, beside its cells. */
  findings?: readonly Finding[];
  /** Where a row is, for messages: `houses.csv, line 3`. */
  placeOf(row: number): string;
  /** What a spreadsheet calls a column, for messages: `B`; absent: its position. */
  lettersOf?(column: number): string;
}

const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Whether a field is a decimal number within float32's range: not `NaN`, `?`, `0x10` or 1e39. */
export function isDecimal(field: string): boolean {
  return decimal.test(field) && Number.isFinite(Math.fround(Number(field)));
}

/** A column without cells. */
export function emptyColumn(name: string): RawColumn {
  return { name, cells: new Cells(), missing: new Map() };
}

/** Whether a cell counts as missing. */
export type IsMissing = (cell: Cell) => boolean;

/** A decimal number, apart from codes such as 0999. */
const uncodedNumber = /^[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * Tests cells for null, NaN, and the given texts, whichever way a format holds them: -999 stands for the texts -999,
 * -999.0 and -9.99e+02, and for that number, also where a column of float32 has rounded it; 1900-01-01 stands for the
 * date, too.
 */
export function missingTest(missingValues: readonly string[]): IsMissing {
  const texts = new Set(missingValues);
  const doubles = missingValues.filter((text) => uncodedNumber.test(text)).map(Number);
  const numbers = new Set([...doubles, ...doubles.map(Math.fround)].filter(Number.isFinite));
  const times = new Set(missingValues.map((text) => parseDate(text)).filter((time) => !Number.isNaN(time)));
  return (cell) => {
    if (cell === null) return true;
    if (cell instanceof Date) return times.has(cell.getTime());
    if (typeof cell === 'number' || typeof cell === 'bigint') return Number.isNaN(cell) || numbers.has(Number(cell));
    const text = String(cell);
    return texts.has(text) || (numbers.size > 0 && uncodedNumber.test(text) && numbers.has(Number(text)));
  };
}

/** Adds a cell, or counts it where it is missing. */
export function addCell({ cells, missing }: RawColumn, cell: Cell, isMissing: IsMissing): void {
  const isAbsent = isMissing(cell);
  cells.push(isAbsent ? null : cell);
  if (!isAbsent) return;
  const text = cell === null || Number.isNaN(cell) ? '' : cell instanceof Date ? cell.toISOString() : String(cell);
  missing.set(text, (missing.get(text) ?? 0) + 1);
}
