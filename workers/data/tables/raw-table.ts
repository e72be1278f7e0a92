import type { Delimiter } from '../../../core/preprocessing/reading.ts';
import { type Doubt, refuseDoubts, tellDoing } from '../notes.ts';
import { forEachRow, type Row } from '../sources/delimited.ts';
import {
  addCell,
  type Cell,
  type Cells,
  emptyColumn,
  isDecimal,
  type IsMissing,
  type RawColumn,
  type RawTable,
} from './cells.ts';

/** More columns, or cells in all, than this are refused: a small damaged file must not fill the memory. */
const mostColumns = 10_000;
/** A `Set` of V8 holds no more. */
const mostRows = 2 ** 24;
const mostCells = 2 ** 28;

/** @throws Error if a table is larger than what is read at once */
export function checkSize(source: string, rows: number, columns: number): void {
  if (columns <= mostColumns && rows <= mostRows && rows * columns <= mostCells) return;
  throw new Error(
    `${source} has ${columns} columns and ${rows} rows; a table has at most ${mostColumns} columns, ` +
      `${mostRows} rows and ${mostCells} cells. Divide it, or give its values as arrays (createDataset).`,
  );
}

/** Where a piece of a file's text lies in it. */
export interface TextPiece {
  /** Lines in front of it. */
  linesBefore: number;
  /** The columns of an earlier piece; null: the first piece. */
  known: Pick<RawTable, 'columns' | 'nameless'> | null;
}

/**
 * Reads delimited text (UTF-8, RFC 4180 quotes). Columns without names are `column 1`, `column 2`, ... Rows of empty
 * fields alone are left out, and so are empty fields beyond the names.
 */
export function parseDelimited(
  text: Buffer,
  source: string,
  isMissing: IsMissing,
  { delimiter, header }: { delimiter: Delimiter; header: boolean | 'auto' },
  { linesBefore, known }: TextPiece = { linesBefore: 0, known: null },
): RawTable {
  const visitRow = (visit: (row: Row) => void) => forEachRow(text, source, delimiter, visit, linesBefore);
  const rows = new GatheredRows(source, isMissing, known);
  let told = 0;
  visitRow((row) => {
    rows.add(row);
    told = tellRead(row.end, told, text.length);
  });
  const { columns, nameless, length, emptyRows, hasNames } = rows.finish(header);
  const before = hasNames && known === null ? 1 : 0;
  const placeOf = (row: number) => placeOfRow(source, visitRow, row + before);
  return { source, columns, length, hasNames, nameless, emptyRows, placeOf };
}

/** Tells every percent how much was read, in bytes. @returns how much was told last */
export function tellRead(read: number, told: number, all: number): number {
  if (read - told < all / 100) return told;
  tellDoing(`${Math.floor((100 * read) / all)} % read`);
  return read;
}

/** Gathers rows of fields by column, and finds out whether the first one names them. */
export class GatheredRows {
  readonly #source: string;
  readonly #isMissing: IsMissing;
  readonly #columns: RawColumn[];
  readonly #nameless: readonly number[] | null;
  /** Of the first piece of a file: its first line. */
  #first: readonly Cell[] | null = null;
  readonly #emptyRows: number[] = [];
  #length = 0;

  constructor(source: string, isMissing: IsMissing, known: TextPiece['known'] = null) {
    this.#source = source;
    this.#isMissing = isMissing;
    const nameless = known?.nameless ?? [];
    this.#columns = known?.columns.map(({ name }, i) => emptyColumn(nameless.includes(i) ? '' : name)) ?? [];
    this.#nameless = known === null ? null : nameless;
  }

  add({ fields, place }: { fields: readonly Cell[]; place: () => string }): void {
    const isFirst = this.#nameless === null && this.#first === null;
    if (isEmptyRow(fields)) {
      this.#emptyRows.push(isFirst ? -1 : this.#length);
    } else if (isFirst) {
      this.#first = fields;
      checkSize(this.#source, 0, fields.length);
      for (const name of textsOf(fields)) this.#columns.push(emptyColumn(name));
    } else {
      this.#push(fitted(fields, this.#columns, place));
    }
  }

  #push(fields: readonly Cell[]): void {
    fields.forEach((field, i) => addCell(this.#columns[i], field, this.#isMissing));
    this.#length++;
    checkSize(this.#source, this.#length, this.#columns.length);
  }

  finish(header: boolean | 'auto') {
    const [columns, first] = [this.#columns, this.#first];
    const hasNames = first === null || (header === 'auto' ? isHeader(textsOf(first), columns, this.#source) : header);
    if (first !== null && !hasNames) this.#putBack(first);
    const nameless = columns.flatMap(({ name }, i) => (hasNames && name === '' ? [i] : []));
    columns.forEach((column, i) => {
      if (!hasNames || column.name === '') column.name = `column ${i + 1}`;
    });
    // A first line that is a row lies in front of the others.
    const emptyRows = hasNames ? this.#emptyRows : this.#emptyRows.map((before) => before + 1);
    return { columns, nameless, emptyRows, length: this.#length, hasNames };
  }

  /** The first line is a row. */
  #putBack(first: readonly Cell[]): void {
    first.forEach((field, i) => {
      const own = emptyColumn('');
      addCell(own, field, this.#isMissing);
      this.#columns[i].cells.pushFront(own.cells.at(0));
      for (const [text, count] of own.missing) {
        const { missing } = this.#columns[i];
        missing.set(text, (missing.get(text) ?? 0) + count);
      }
    });
    this.#length++;
  }
}

const textsOf = (fields: readonly Cell[]): string[] => fields.map((field) => String(field ?? ''));

/** Spreadsheets write rows of delimiters alone below a table. */
function isEmptyRow(fields: readonly Cell[]): boolean {
  return fields.length > 1 && fields.every((field) => field === '');
}

/** Delimiters at the end of a line may be too many or, after the last name, too few. */
function fitted(fields: readonly Cell[], columns: readonly RawColumn[], place: () => string): readonly Cell[] {
  const [found, wanted] = [fields.length, columns.length];
  if (found === wanted) return fields;
  if (found > wanted && fields.slice(wanted).every((field) => field === '')) return fields.slice(0, wanted);
  if (found < wanted && columns.slice(found).every(({ name }) => name === '')) {
    return [...fields, ...Array.from({ length: wanted - found }, () => '')];
  }
  const cause =
    found === wanted + 1
      ? " If the first field is the row's name, as R writes it, give it a name in the first line too."
      : '';
  throw new Error(
    `${place()}: ${found} fields, the first line has ${wanted}. Give every line the same number, and set the ` +
      `delimiter if it was not recognised.${cause}`,
  );
}

/** Reads the text again up to the row: keeping the place of every row would take more memory than the values. */
function placeOfRow(source: string, visitRow: (visit: (row: Row) => void) => void, wanted: number): string {
  let row = 0;
  let found = source;
  visitRow(({ fields, place }) => {
    if (!isEmptyRow(fields) && row++ === wanted) found = place();
  });
  return found;
}

/**
 * Whether the first line of a file names its columns.
 *
 * Yes, if none of its fields is a number. No, if all are and do not look like numbered columns, or if a text in it
 * occurs again in its column, as a class does. A line of both is names if its numbers can be names (whole, ascending:
 * 0, 1, 2 or 2019, 2020) and one of its texts differs in kind from all cells below it: these are numbers, or repeat
 * each other.
 * @param columns the cells below the first line
 * @throws Error where both readings are equally good
 */
function isHeader(first: readonly string[], columns: readonly RawColumn[], source: string): boolean {
  const texts = first.flatMap((field, i) => (isDecimal(field) ? [] : [{ field, cells: columns[i].cells }]));
  if (texts.length === first.length) return true;
  const [{ cells }] = columns;
  if (cells.length === 0) return false;
  if (texts.length === 0) {
    if (mayNumberColumns(first, columns)) refuseDoubts(source, [undecided(source, first)]);
    return false;
  }
  const named = texts.filter(({ field }) => field !== '');
  if (!areNames(first.filter(isDecimal))) return false;
  if (named.some(({ field, cells: own }) => own.some((value) => value === field))) return false;
  if (named.some(({ cells: own }) => isOfAnotherKind(own))) return true;
  refuseDoubts(source, [undecided(source, first)]);
  return true;
}

/** Fewer rows do not show that the first line is unlike them, and so many do. */
const [leastCompared, mostCompared] = [3, 1000];

/**
 * Whether a first line of numbers alone may be names: it counts from 0, as pandas names the columns of an array; it
 * ascends in even steps, as years do, and no row below does; or it ascends, above columns of which each has decimals.
 */
function mayNumberColumns(first: readonly string[], columns: readonly RawColumn[]): boolean {
  if (first.length < 3 || !areNames(first)) return false;
  if (first.every((field, i) => field === String(i))) return true;
  if (columns[0].cells.length < leastCompared) return false;
  if (columns.every(({ cells }) => cells.some((cell) => !Number.isInteger(Number(cell))))) return true;
  const rows = Array.from({ length: Math.min(columns[0].cells.length, mostCompared) }, (_, row) =>
    columns.map(({ cells }) => Number(cells.at(row))),
  );
  return areEven(first.map(Number)) && !rows.some(areEven);
}

const areEven = (numbers: readonly number[]): boolean =>
  numbers[1] > numbers[0] && numbers.every((own, i) => i === 0 || own - numbers[i - 1] === numbers[1] - numbers[0]);

function areNames(numbers: readonly string[]): boolean {
  return numbers.every(
    (text, i) => /^(?:0|[1-9]\d*)$/.test(text) && (i === 0 || Number(text) > Number(numbers[i - 1])),
  );
}

/** Whether cells below a text are numbers, or repeat each other as classes do. */
function isOfAnotherKind(cells: Cells): boolean {
  if (cells.present === 0) return false;
  if (cells.every((cell) => isDecimal(String(cell)))) return true;
  return cells.present >= 4 && 2 * cells.distinct() <= cells.present;
}

function undecided(source: string, first: readonly string[]): Doubt {
  const shown = first.slice(0, 6).join(', ') + (first.length > 6 ? ', ...' : '');
  return {
    kind: 'header',
    column: null,
    message: `${source}: the first line (${shown}) may name the columns or be a row of data.`,
    remedy: 'Say which: readTable(file, { header: true }) or { header: false }.',
    choices: ['true', 'false'],
    option: 'header: true, or header: false',
  };
}
