import type { Cell } from './cells.ts';
import { dateOfSerial, type Sheet, TextRun, unescapeText, type Workbook } from './workbook-parts.ts';

/** What a sheet can have. */
export const [mostRows, mostColumns] = [1_048_576, 16_384];

/** Rows and columns, from 1, both ends included. */
export interface Area {
  top: number;
  left: number;
  bottom: number;
  right: number;
}

/** @throws Error where a text is no range of cells */
export function areaOf(range: string, place: string): Area {
  const found = /^\$?([A-Z]{1,3})\$?(\d{0,7})(?::\$?([A-Z]{1,3})\$?(\d{0,7}))?$/i.exec(range.trim());
  const [left, top] = [columnOf(found?.[1] ?? ''), Number(found?.[2] || 1)];
  const isCell = found?.[3] === undefined && found?.[2] !== '';
  const [right, bottom] = isCell ? [left, top] : [columnOf(found?.[3] ?? ''), Number(found?.[4] || mostRows)];
  const isArea = left >= 1 && left <= right && right <= mostColumns && top >= 1 && top <= bottom && bottom <= mostRows;
  if (isArea) return { top, left, bottom, right };
  throw new Error(
    `${place}: ${JSON.stringify(range)} is no range of cells. Write A1:D20, or A1:D for all rows below A1.`,
  );
}

/** `AA`: 27; 0 for an empty text. */
function columnOf(letters: string): number {
  return Array.from(letters.toUpperCase(), (letter) => letter.charCodeAt(0) - 64).reduce(
    (sum, own) => 26 * sum + own,
    0,
  );
}

/** 27: `AA` */
export function lettersOf(column: number): string {
  const last = String.fromCharCode(65 + ((column - 1) % 26));
  return column > 26 ? lettersOf(Math.floor((column - 1) / 26)) + last : last;
}

/** A row that has a value. */
export interface SheetRow {
  /** Counted from 1. */
  number: number;
  isHidden: boolean;
  /** By their positions from the area's first column, without those that have no value. */
  cells: Cell[];
  /** How many cells have a value. */
  filled: number;
}

/** The cells in an area of a sheet. */
export interface SheetCells {
  rows: SheetRow[];
  merged: readonly Area[];
  /** Ranges of columns, from 1. */
  hidden: readonly Pick<Area, 'left' | 'right'>[];
  /** How many cells have which error. */
  errors: ReadonlyMap<string, number>;
  /** How many cells are the stored results of formulas. */
  formulas: number;
}

/** A cell while its elements are read. */
interface OpenCell {
  column: number;
  type: string;
  style: number;
  hasFormula: boolean;
  /** Null: there is no element with a value. */
  text: string | null;
}

/** Reads the cells of an area that have values, row by row. */
export class SheetReader {
  readonly #workbook: Workbook;
  readonly #place: string;
  readonly #area: Area;
  readonly #rows: SheetRow[] = [];
  readonly #merged: Area[] = [];
  readonly #hidden: Pick<Area, 'left' | 'right'>[] = [];
  readonly #errors = new Map<string, number>();
  #formulas = 0;

  /** @param place file and sheet, for messages */
  constructor(workbook: Workbook, place: string, area: Area) {
    this.#workbook = workbook;
    this.#place = place;
    this.#area = area;
  }

  /** @throws Error that names the cell and the remedy for what cannot be read */
  async read({ part }: Sheet): Promise<SheetCells> {
    let row: SheetRow = { number: 0, isHidden: false, cells: [], filled: 0 };
    let column = 0;
    let cell: OpenCell | null = null;
    const run = new TextRun((text) => {
      if (cell !== null) cell.text = (cell.text ?? '') + text;
    });
    await this.#workbook.read(part, () => ({
      open: (name, attributes) => {
        if (name === 'row') {
          row = this.#openRow(attributes(), row);
          column = 0;
        } else if (name === 'c') {
          const { r: place, t: type = 'n', s: style = '0' } = attributes();
          column = this.#columnOf(place, column, row);
          cell = { column, type, style: Number(style), hasFormula: false, text: null };
        } else if (name === 'f' && cell !== null) cell.hasFormula = true;
        else this.#openOther(name, attributes);
        run.open(name);
      },
      text: (text) => run.add(text),
      close: (name) => {
        run.close(name);
        if (name === 'c' && cell !== null) {
          this.#addCell(cell, row);
          cell = null;
        } else if (name === 'row' && row.filled > 0) this.#rows.push(row);
      },
    }));
    return {
      rows: this.#rows,
      merged: this.#merged,
      hidden: this.#hidden,
      errors: this.#errors,
      formulas: this.#formulas,
    };
  }

  #openRow({ r: written, hidden }: Record<string, string>, { number: before }: SheetRow): SheetRow {
    const number = written === undefined ? before + 1 : Number(written);
    if (Number.isInteger(number) && number > before && number <= mostRows) {
      return { number, isHidden: hidden === '1' || hidden === 'true', cells: [], filled: 0 };
    }
    throw new Error(
      `${this.#place}: row ${written ?? number} comes after row ${before}. A sheet has its rows in order, at most ` +
        `${mostRows}. Save the workbook again.`,
    );
  }

  /** @param written `B3`; undefined: the column behind the one before */
  #columnOf(written: string | undefined, before: number, { number }: SheetRow): number {
    const [, letters, row] = /^([A-Z]{1,3})(\d{1,7})$/.exec(written ?? '') ?? [];
    const column = written === undefined ? before + 1 : columnOf(letters ?? '');
    const isInRow = written === undefined || Number(row) === number;
    if (isInRow && column >= 1 && column <= mostColumns) return column;
    throw new Error(
      `${this.#place}, row ${number}: ${JSON.stringify(written ?? lettersOf(column))} is no place of a cell of this ` +
        `row, which has at most ${mostColumns}. Save the workbook again.`,
    );
  }

  #openOther(name: string, attributes: () => Record<string, string>): void {
    if (name === 'col') {
      const { min, max, hidden } = attributes();
      if (hidden === '1' || hidden === 'true') this.#hidden.push({ left: Number(min), right: Number(max) });
    } else if (name === 'mergeCell') this.#merged.push(areaOf(attributes().ref ?? '', this.#place));
  }

  #addCell(cell: OpenCell, row: SheetRow): void {
    const { number } = row;
    const { top, left, bottom, right } = this.#area;
    if (number < top || number > bottom || cell.column < left || cell.column > right) return;
    const value = this.#valueOf(cell, () => `${this.#place}, cell ${lettersOf(cell.column)}${number}`);
    if (value === null) return;
    if (cell.hasFormula) this.#formulas++;
    if (cell.type === 'e') this.#errors.set(String(value), (this.#errors.get(String(value)) ?? 0) + 1);
    row.cells[cell.column - left] = value;
    row.filled++;
  }

  #valueOf({ type, style, hasFormula, text }: OpenCell, place: () => string): Cell {
    if (text === null || text === '') {
      if (!hasFormula || type === 'str') return null;
      throw new Error(
        `${place()} has a formula without its result. Open the workbook in a spreadsheet program and save it, which ` +
          'stores the results.',
      );
    }
    if (type === 's') return this.#sharedText(text, place);
    if (type === 'b') return text === '1' || text === 'true';
    if (type !== 'n') return unescapeText(text);
    const number = text.trim() === '' ? Number.NaN : Number(text);
    if (Number.isNaN(number)) throw new Error(`${place()} holds ${JSON.stringify(text)} in place of a number.`);
    const { areDates, isFrom1904 } = this.#workbook;
    return (areDates[style] ? dateOfSerial(number, isFrom1904) : null) ?? number;
  }

  #sharedText(position: string, place: () => string): Cell {
    const { texts } = this.#workbook;
    const text = /^\d+$/.test(position) ? texts.at(Number(position)) : undefined;
    if (text !== undefined) return text === '' ? null : text;
    throw new Error(
      `${place()} points to text ${JSON.stringify(position)} of the workbook, which has ${texts.length} texts. Save ` +
        'or copy it again.',
    );
  }
}
