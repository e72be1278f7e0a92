import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { createDataset } from '../dataset.ts';
import type { Dataset } from '../dataset.ts';
import { forEachRow } from './delimited.ts';
import type { Delimiter, Row } from './delimited.ts';
import { findFile, placesOf, whereToPut } from './locate.ts';
import type { DataFolders } from './locate.ts';

/** How to read a delimited file. */
export interface TableOptions {
  /** Name of the data set; the file's name by default. */
  name?: string;
  /** Separates fields. `auto` (default) uses the first line: a semicolon if it has one, else a comma, else white space. */
  delimiter?: Delimiter | 'auto';
  /** Whether the first line names the columns. `auto` (default): yes if none of its fields is a number. */
  header?: boolean | 'auto';
  /** The column to predict: its name or its index, counted from 0; the last column by default. */
  target?: string | number;
  /** `values` (default): numbers, for regression. `classes`: any text; each distinct text is a class, in sorted order. */
  targetKind?: 'values' | 'classes';
}

/**
 * Reads a delimited text file (UTF-8) as a data set. Features are float32 `[N, columns - 1]`; targets are float32 `[N]` or class
 * labels `[N]`. Fields may be quoted as in RFC 4180; blank lines are skipped.
 * @throws Error that names file, line, column and value of a field that cannot be read.
 */
export async function table(file: string, options: TableOptions = {}): Promise<Dataset> {
  return parseTable(await readFile(file), file, options);
}

const uciNames = ['concrete', 'energy', 'kin8nm', 'power', 'wine', 'yacht'] as const;
/** Names of the UCI regression tables. */
export type UciName = (typeof uciNames)[number];

/**
 * Reads a regression table of the UCI Machine Learning Repository from `uci/<name>.txt` in the data folders: numbers separated
 * by white space, with the target in the last column. There is no official download in this form.
 *
 * @throws Error that says where to put the file if it is missing
 */
export async function uciTable(name: UciName, folders: DataFolders): Promise<Dataset> {
  if (!uciNames.includes(name)) {
    throw new Error(`UCI table "${name}" is not known; choose one of ${uciNames.join(', ')}, or use table(file).`);
  }
  const path = await findFile(placesOf(folders, 'uci'), [`${name}.txt`]);
  if (path === null) {
    throw new Error(
      `UCI table "${name}" was not found, and there is no official download. Put ${name}.txt (numbers separated by ` +
        `white space, target last) ${whereToPut(folders, 'uci')}.`,
    );
  }
  return table(path, { name });
}

/** Like {@link table}, but from the bytes of a UTF-8 text; `file` is its name in error messages. */
export function parseTable(text: Buffer, file: string, options: TableOptions = {}): Dataset {
  const rows = new TableRows(file, options);
  forEachRow(text, file, options.delimiter ?? 'auto', (row) => rows.add(row));
  return rows.toDataset();
}

/** Collects rows as numbers. The first row decides on header, columns and target. */
class TableRows {
  readonly #file: string;
  readonly #options: TableOptions;
  #columns = 0;
  #target = 0;
  readonly #features: number[] = [];
  readonly #values: number[] = [];
  readonly #classes: string[] = [];

  constructor(file: string, options: TableOptions) {
    this.#file = file;
    this.#options = options;
  }

  add(row: Row): void {
    const isFirst = this.#columns === 0;
    if (isFirst && this.#start(row.fields)) return;
    checkWidth(row, this.#columns);
    for (const [column, field] of row.fields.entries()) {
      if (column !== this.#target) this.#features.push(readNumber(row, column));
      else if (this.#options.targetKind === 'classes') this.#classes.push(field);
      else this.#values.push(readNumber(row, column));
    }
  }

  toDataset(): Dataset {
    if (this.#features.length === 0) throw new Error(`${this.#file} has no rows of data. Give one line a sample.`);
    return createDataset({
      name: this.#options.name ?? basename(this.#file),
      featureShape: [this.#columns - 1],
      features: Float32Array.from(this.#features),
      ...(this.#options.targetKind === 'classes'
        ? labelsOf(this.#classes)
        : { targets: Float32Array.from(this.#values) }),
    });
  }

  /** Takes columns and target from the first row; true if it is a header. */
  #start(fields: string[]): boolean {
    const { header = 'auto', target = fields.length - 1 } = this.#options;
    const isHeader = header === 'auto' ? fields.every((field) => !isNumber(field)) : header;
    this.#columns = fields.length;
    this.#target = targetColumn(this.#file, target, fields.length, isHeader ? fields : undefined);
    return isHeader;
  }
}

function targetColumn(file: string, target: string | number, columns: number, header?: string[]): number {
  const index = typeof target === 'number' ? target : (header?.indexOf(target) ?? -1);
  if (columns < 2) throw new Error(`${file} has one column; a table needs a feature and a target at least.`);
  if (!(Number.isInteger(index) && index >= 0 && index < columns)) {
    const names = header ? ` (${header.join(', ')})` : ', which have no names';
    throw new Error(
      `${file} has no target column ${JSON.stringify(target)}: choose one of its ${columns} columns${names}.`,
    );
  }
  return index;
}

function checkWidth({ fields, place }: Row, columns: number): void {
  if (fields.length !== columns) {
    throw new Error(
      `${place()}: ${fields.length} fields, the first line has ${columns}. Give every line the same number, ` +
        'and set the delimiter if it was not recognised.',
    );
  }
}

function labelsOf(classes: readonly string[]) {
  const collator = new Intl.Collator('en', { numeric: true });
  const classNames = [...new Set(classes)].sort(collator.compare);
  const labels = new Map(classNames.map((className, label) => [className, label]));
  return { classNames, targets: Int32Array.from(classes, (className) => labels.get(className) ?? -1) };
}

const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Whether a field is a decimal number within float32's range: not `NaN`, `?`, `0x10` or 1e39. */
function isNumber(field: string): boolean {
  return decimal.test(field) && Number.isFinite(Math.fround(Number(field)));
}

function readNumber({ fields, place }: Row, column: number): number {
  const field = fields[column];
  if (isNumber(field)) return Number(field);
  throw new Error(
    `${place()}, column ${column + 1}: "${field}" is not a number (finite, with a decimal point, within ` +
      'float32). Correct the field or remove the line.',
  );
}
