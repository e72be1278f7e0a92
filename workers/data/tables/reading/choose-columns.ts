import { leastShared } from '../../../../core/preprocessing/answer-findings.ts';
import { keyOf } from '../../../../core/preprocessing/column-findings.ts';
import type { DateFormat } from '../../../../core/preprocessing/reading.ts';
import type { Cell, Cells, RawTable } from '../cells.ts';
import {
  type ColumnFormat,
  type ColumnType,
  type NumericColumn,
  placeOfColumn,
  plainFormat,
  readCell,
  whyWrong,
  wrongRemedy,
} from '../columns.ts';
import { type Doubt, noteAssumed, refuseDoubts, tellDoing } from '../../notes.ts';
import { fittingDateFormats, mostlyDates, parseDate } from './dates.ts';
import { decimalShownBy, fittingNumberFormats, mostlyNumbers, parseNumber } from './numbers.ts';

/** What the user says of how cells are written. */
export interface WritingOptions {
  /**
   * The sign in front of decimals, in all columns or by name; the other one then separates thousands. Found out by
   * default.
   */
  decimal?: '.' | ',' | Readonly<Record<string, '.' | ','>>;
  /**
   * How dates that are not ISO 8601 are written, in all columns or by name. Found out by default, where only one format
   * fits.
   */
  dateFormat?: DateFormat | Readonly<Record<string, DateFormat>>;
  /**
   * Columns of categories in which the case of letters makes no difference, nor how accents are composed: `Yes` is
   * `yes`.
   */
  ignoreCase?: readonly string[];
}

/** The type of a column, and how its cells are written. */
export interface ChosenColumn extends ColumnFormat {
  type: ColumnType;
}

/** A column that cannot be read without its user. */
interface UndecidedColumn {
  doubt: Doubt;
  /** How it is read while the file is only inspected. */
  assumed: ChosenColumn;
}

/**
 * A column of strings with more distinct values is text unless the user says that it is a category; with more than
 * `surelyCategories` also unless each value has `leastShared` rows on average, and their features fit into memory.
 */
const [surelyCategories, mostGuessedCategories] = [100, 1000];
const mostGuessedFeatures = 2 ** 27;
/** Fewer numbers are days by chance. */
const leastDays = 3;
/** What most cells of a column are shows in so many. */
const mostSampled = 2 ** 16;

/**
 * The types and formats of a table's columns: as the user gave them, else as all values that are present allow. Where
 * two readings are equally good, none is taken.
 * @param types by name; `ignore`: the column is left out
 * @throws Error that names every column that cannot be read, with place, value and remedy
 */
export function chooseColumns(
  table: RawTable,
  types: ReadonlyMap<string, ColumnType | 'ignore'>,
  options: WritingOptions,
): (ChosenColumn | null)[] {
  const chooser = new ColumnChooser(table, options);
  const doubts: Doubt[] = [];
  const chosen = table.columns.map(({ name }, index) => {
    const type = types.get(name);
    if (type === 'ignore') return null;
    tellDoing(`finding out what column ${index + 1} of ${table.columns.length} is`);
    const found = chooser.choose(index, type);
    if (!('doubt' in found)) return found;
    doubts.push(found.doubt);
    return found.assumed;
  });
  refuseDoubts(`${table.source}: ${doubts.length} columns cannot be read as they are.`, doubts);
  return chosen;
}

class ColumnChooser {
  readonly #table: RawTable;
  readonly #options: WritingOptions;
  /** The decimal signs that columns with only one reading have; found out once a column has two. */
  #shownDecimals: Set<'.' | ','> | null = null;
  /** The texts of the column that was looked at last: one column of a large file fills much memory. */
  #lastTexts: { index: number; texts: string[] } | null = null;

  constructor(table: RawTable, options: WritingOptions) {
    this.#table = table;
    this.#options = options;
  }

  /** @param type as the user says @returns the column's type and format, or why there is none */
  choose(index: number, type: ColumnType | undefined): ChosenColumn | UndecidedColumn {
    if (type === 'text') return { type, ...plainFormat };
    if (type === 'category') return this.#category(index);
    if (type === 'number') return this.#number(index) ?? this.#wrong(index, type, this.#mostlyNumberFormat(index));
    if (type === 'date') return this.#date(index) ?? this.#wrong(index, type, this.#mostlyDateFormat(index));
    if (type === 'boolean') return this.#boolean(index) ?? this.#wrong(index, type, plainFormat);
    return (
      this.#dateOfDigits(index) ??
      this.#number(index) ??
      this.#boolean(index) ??
      this.#date(index) ??
      this.#mostly(index) ??
      (this.#isCategory(index) ? this.#category(index) : { type: 'text', ...plainFormat })
    );
  }

  #number(index: number): ChosenColumn | UndecidedColumn | null {
    const isTextOrNumber = (cell: Cell): boolean =>
      typeof cell === 'string' || readCell(cell, 'number', plainFormat) !== null;
    if (!this.#cells(index).every(isTextOrNumber)) return null;
    const texts = this.#texts(index);
    const formats = fittingNumberFormats(texts, this.#decimalOf(index));
    if (formats.length === 0) return null;
    const usual = formats[0];
    if (formats.length === 1) return { type: 'number', numberFormat: usual, dateFormat: null };
    const shown = this.#decimals();
    // A column of plain numbers is no riddle unless other columns have decimal commas.
    if (usual === null && !shown.has(',')) return { type: 'number', ...plainFormat };
    const decided = formats.filter((format) => shown.size === 1 && shown.has(format?.decimal ?? '.'));
    const row = this.#rowOf(index, (text) => parseNumber(text, formats[0]) !== parseNumber(text, formats[1]));
    const text = String(this.#cells(index).at(row));
    const { name } = this.#table.columns[index];
    if (decided.length === 1) {
      const [numberFormat] = decided;
      const decimal = numberFormat?.decimal ?? '.';
      const message =
        `${JSON.stringify(text)} of ${JSON.stringify(name)} is ${parseNumber(text, numberFormat)}: other columns have a ` +
        `decimal ${decimal === ',' ? 'comma' : 'point'}.`;
      noteAssumed({
        kind: 'number-format',
        column: name,
        message,
        option: `decimal: { ${keyOf(name)}: '${decimal}' }`,
      });
      return { type: 'number', numberFormat, dateFormat: null };
    }
    const values = formats.map((format) => `${parseNumber(text, format)} (decimal: '${format?.decimal ?? '.'}')`);
    const message =
      `${placeOfColumn(this.#table, index, row)}: ${JSON.stringify(text)} is ${values.join(' or ')}, and ` +
      `${shown.size > 1 ? 'other columns have both' : 'nothing else in the file decides'}.`;
    const remedy = "Say which: readTable(file, { decimal: ',' }).";
    const option = `decimal: { ${keyOf(name)}: '${formats[0]?.decimal ?? '.'}' }`;
    const choices = formats.map((format) => format?.decimal ?? '.');
    const doubt: Doubt = { kind: 'number-format', column: name, message, remedy, choices, option };
    return { doubt, assumed: { type: 'number', numberFormat: formats[0], dateFormat: null } };
  }

  #decimals(): ReadonlySet<'.' | ','> {
    if (this.#shownDecimals !== null) return this.#shownDecimals;
    const shown = new Set<'.' | ','>();
    this.#table.columns.forEach((_, index) => {
      const texts = this.#texts(index);
      const formats = fittingNumberFormats(texts, null);
      const sign = formats.length === 1 ? decimalShownBy(texts, formats[0]) : null;
      if (sign !== null) shown.add(sign);
    });
    return (this.#shownDecimals = shown);
  }

  #boolean(index: number): ChosenColumn | null {
    return this.#fits(index, 'boolean', plainFormat) ? { type: 'boolean', ...plainFormat } : null;
  }

  /** Numbers of which each is a day of a year from 1900 to 2099: 20210131. */
  #dateOfDigits(index: number): ChosenColumn | null {
    const cells = this.#cells(index);
    const format = { numberFormat: null, dateFormat: 'YYYYMMDD' } as const;
    const isDay = (cell: Cell): boolean =>
      /^(?:19|20)\d{6}$/.test(String(cell)) && readCell(cell, 'date', format) !== null;
    return cells.present >= leastDays && cells.every(isDay) ? { type: 'date', ...format } : null;
  }

  #date(index: number): ChosenColumn | UndecidedColumn | null {
    if (this.#fits(index, 'date', plainFormat)) return { type: 'date', ...plainFormat };
    const { name } = this.#table.columns[index];
    const texts = this.#texts(index);
    const wanted = ofColumn(this.#options.dateFormat, name);
    const formats = fittingDateFormats(texts, wanted).filter((format) =>
      this.#fits(index, 'date', { numberFormat: null, dateFormat: format }),
    );
    if (formats.length === 0) return null;
    if (formats.length === 1) return { type: 'date', numberFormat: null, dateFormat: formats[0] };
    const row = this.#rowOf(index, (text) => parseDate(text, formats[0]) !== parseDate(text, formats[1]));
    const text = String(this.#cells(index).at(row));
    const readings = formats.map((format) => `${longDate(parseDate(text, format))} (${format})`);
    const message =
      `${placeOfColumn(this.#table, index, row)}: ${JSON.stringify(text)} is ${readings.join(' or ')}, and no date ` +
      'of the column decides.';
    const remedy =
      `Say which: readTable(file, { dateFormat: { ${JSON.stringify(name)}: '${formats[0]}' } }), or give the column ` +
      'the type category or ignore.';
    const option = `dateFormat: { ${keyOf(name)}: '${formats[0]}' }`;
    const doubt: Doubt = { kind: 'date-format', column: name, message, remedy, choices: formats, option };
    return { doubt, assumed: { type: 'date', numberFormat: null, dateFormat: formats[0] } };
  }

  /** A misspelt number or date must not turn a column into categories. */
  #mostly(index: number): UndecidedColumn | null {
    const present = sampleOf(this.#cells(index));
    const numbers = present.filter((cell) => readCell(cell, 'number', plainFormat) !== null).length;
    if (numbers > 0 && 2 * numbers >= present.length)
      return this.#wrong(index, 'number', this.#mostlyNumberFormat(index));
    const texts = present.filter((cell) => typeof cell === 'string');
    if (2 * texts.length < present.length) return null;
    const numberFormat = mostlyNumbers(texts, this.#decimalOf(index));
    if (numberFormat !== undefined) return this.#wrong(index, 'number', { numberFormat, dateFormat: null });
    const dateFormat = mostlyDates(texts);
    return dateFormat === undefined ? null : this.#wrong(index, 'date', { numberFormat: null, dateFormat });
  }

  #mostlyNumberFormat(index: number): ColumnFormat {
    const decimal = this.#decimalOf(index);
    const usual = decimal === ',' ? { decimal, grouping: '' as const, unit: '' } : null;
    return { numberFormat: mostlyNumbers(this.#sampledTexts(index), decimal) ?? usual, dateFormat: null };
  }

  #decimalOf(index: number): '.' | ',' | null {
    return ofColumn(this.#options.decimal, this.#table.columns[index].name);
  }

  #mostlyDateFormat(index: number): ColumnFormat {
    return { numberFormat: null, dateFormat: mostlyDates(this.#sampledTexts(index)) ?? null };
  }

  /** Says which cell does not fit. */
  #wrong(index: number, type: NumericColumn['type'], format: ColumnFormat): UndecidedColumn {
    const row = firstRow(this.#cells(index), (cell) => readCell(cell, type, format) === null);
    const message = whyWrong(this.#table, { index, row }, type, format);
    const { name } = this.#table.columns[index];
    const doubt: Doubt = { kind: 'misfits', column: name, message, remedy: wrongRemedy, choices: null, option: null };
    return { doubt, assumed: { type, ...format } };
  }

  #category(index: number): ChosenColumn {
    const isCaseless = this.#options.ignoreCase?.includes(this.#table.columns[index].name) ?? false;
    return { type: 'category', ...plainFormat, ...(isCaseless && { ignoresCase: true }) };
  }

  #isCategory(index: number): boolean {
    const { present, length } = this.#cells(index);
    const distinct = this.#cells(index).distinct(mostGuessedCategories + 1);
    if (distinct <= surelyCategories) return true;
    return (
      distinct <= mostGuessedCategories && leastShared * distinct <= present && distinct * length <= mostGuessedFeatures
    );
  }

  #fits(index: number, type: NumericColumn['type'], format: ColumnFormat): boolean {
    return this.#cells(index).every((cell) => readCell(cell, type, format) !== null);
  }

  #rowOf(index: number, differs: (text: string) => boolean): number {
    return firstRow(this.#cells(index), (cell) => typeof cell === 'string' && differs(cell));
  }

  #cells(index: number): Cells {
    return this.#table.columns[index].cells;
  }

  /** The texts of a column, repeated ones once. */
  #texts(index: number): string[] {
    if (this.#lastTexts?.index !== index) {
      const texts: string[] = [];
      for (const cell of this.#cells(index).values()) if (typeof cell === 'string') texts.push(cell);
      this.#lastTexts = { index, texts };
    }
    return this.#lastTexts.texts;
  }

  #sampledTexts(index: number): string[] {
    return sampleOf(this.#cells(index)).filter((cell) => typeof cell === 'string');
  }
}

/** The cells that are present, or of very many an even sample of rows. */
function sampleOf(cells: Cells): Exclude<Cell, null>[] {
  const step = Math.max(1, Math.floor(cells.length / mostSampled));
  const found: Exclude<Cell, null>[] = [];
  for (let row = 0; row < cells.length; row += step) {
    const cell = cells.at(row);
    if (cell !== null) found.push(cell);
  }
  return found;
}

/** The first row with a value for which the test holds; -1: none. */
function firstRow(cells: Cells, test: (cell: Cell) => boolean): number {
  for (let row = 0; row < cells.length; row++) if (!cells.isMissingAt(row) && test(cells.at(row))) return row;
  return -1;
}

function ofColumn<T extends string>(option: T | Readonly<Record<string, T>> | undefined, name: string): T | null {
  if (typeof option !== 'object') return option ?? null;
  return Object.hasOwn(option, name) ? option[name] : null;
}

function longDate(time: number): string {
  return new Date(time).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
}
