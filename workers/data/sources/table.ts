import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { createDataset } from '../dataset.ts';
import type { Dataset } from '../dataset.ts';
import { splitRows } from './delimited.ts';
import type { Delimiter, Row } from './delimited.ts';
import { findFile, placesOf, whereToPut } from './locate.ts';
import type { DataFolders } from './locate.ts';

export interface TableOptions {
  name?: string;
  /** `auto` takes semicolons, else commas, else white space, whichever the first line has. */
  delimiter?: Delimiter | 'auto';
  /** Whether the first line names the columns; `auto`: it does if none of its fields is a number. */
  header?: boolean | 'auto';
  /** The column to predict, by its name or its zero-based index; the last one by default. */
  target?: string | number;
  /** `values`: numbers to regress on. `classes`: any text, each distinct one a class, in sorted order. */
  targetKind?: 'values' | 'classes';
}

/**
 * Reads a table of numbers: features float32 [N, columns - 1], targets float32 [N] or class labels [N].
 * @throws Error that names file, line, column and value of what cannot be read.
 */
export async function table(file: string, options: TableOptions = {}): Promise<Dataset> {
  return parseTable(await readFile(file, 'utf8'), file, options);
}

const uciNames = ['concrete', 'energy', 'kin8nm', 'power', 'wine', 'yacht'] as const;
export type UciName = (typeof uciNames)[number];

/**
 * A regression table of the UCI Machine Learning Repository, from `uci/<name>.txt` in the data folders: numbers separated
 * by white space, the last column is the target. There is no official download in this form.
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

/** As {@link table}, from text that is there already; `file` is what errors call it. */
export function parseTable(text: string, file: string, options: TableOptions = {}): Dataset {
  const rows = splitRows(text, file, options.delimiter ?? 'auto');
  const header = takeHeader(rows, options.header ?? 'auto');
  if (rows.length === 0) throw new Error(`${file} has no rows of data. Give one line a sample.`);
  const columns = header?.length ?? rows[0].fields.length;
  const target = targetColumn(file, options.target ?? columns - 1, columns, header);
  const featureCount = columns - 1;
  const features = new Float32Array(rows.length * featureCount);
  for (const [sample, row] of rows.entries()) {
    checkWidth(file, row, columns);
    const values = row.fields.toSpliced(target, 1);
    for (let i = 0; i < featureCount; i++) {
      features[sample * featureCount + i] = readNumber(values[i], file, row.line, i < target ? i : i + 1);
    }
  }
  const shared = { name: options.name ?? basename(file), featureShape: [featureCount], features };
  if (options.targetKind === 'classes') return createDataset({ ...shared, ...readClasses(rows, target) });
  const targets = Float32Array.from(rows, ({ fields, line }) => readNumber(fields[target], file, line, target));
  return createDataset({ ...shared, targets });
}

function takeHeader(rows: Row[], header: boolean | 'auto'): string[] | undefined {
  const isHeader = header === 'auto' ? rows[0]?.fields.every((field) => !isNumber(field)) : header;
  return isHeader ? rows.shift()?.fields : undefined;
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

function checkWidth(file: string, { fields, line }: Row, columns: number): void {
  if (fields.length !== columns) {
    throw new Error(
      `${file}, line ${line}: ${fields.length} fields, the first line has ${columns}. Give every line the same number, ` +
        'and set the delimiter if it was not recognised.',
    );
  }
}

function readClasses(rows: readonly Row[], target: number) {
  const collator = new Intl.Collator('en', { numeric: true });
  const classNames = [...new Set(rows.map(({ fields }) => fields[target]))].sort(collator.compare);
  const labels = new Map(classNames.map((className, label) => [className, label]));
  return { classNames, targets: Int32Array.from(rows, ({ fields }) => labels.get(fields[target]) ?? -1) };
}

const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** A decimal number within float32's range: `NaN`, `?` and `0x10` are none, nor is 1e39. */
function isNumber(field: string): boolean {
  return decimal.test(field) && Number.isFinite(Math.fround(Number(field)));
}

function readNumber(field: string, file: string, line: number, column: number): number {
  if (isNumber(field)) return Number(field);
  throw new Error(
    `${file}, line ${line}, column ${column + 1}: "${field}" is not a number (finite, with a decimal point, within ` +
      'float32). Correct the field or remove the line.',
  );
}
