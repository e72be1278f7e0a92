import { readFile } from 'node:fs/promises';
import { errorCode, explainFileError } from '../../../core/node/file-error.ts';
import { parseHeader, parseNumber } from './metrics-csv.ts';
import { runPaths } from '../runs/run-folder.ts';

/** The metrics of a run: R rows, one per (epoch, step), in ascending order. */
export interface MetricTable {
  /** Metrics, in the order of their columns in the file (without `epoch` and `step`). */
  columns: string[];
  /** shape [R]. */
  epoch: Int32Array;
  /** shape [R]. */
  step: Int32Array;
  /** By metric, shape [R]. NaN for an absent value; `present` distinguishes it from a value that is NaN. */
  values: Map<string, Float64Array>;
  /** By metric, shape [R]: 1 if the row has a value, else 0. */
  present: Map<string, Uint8Array>;
}

export interface Position {
  epoch: number;
  step: number;
}

/** A line of the file, as cells: `epoch`, `step`, then one per metric. */
interface Line extends Position {
  text: string;
  /** One-based, as editors count. */
  number: number;
}

/**
 * Reads `metrics.csv`, even while it is written: a last line without a line break is skipped. Lines with the same (epoch, step)
 * become one row with the later values. A run without the file has an empty table.
 * @throws Error with the line and the column of an invalid number
 */
export async function readMetrics(folder: string): Promise<MetricTable> {
  const path = runPaths(folder).metrics;
  const [header, ...texts] = (await readText(path)).split('\n').slice(0, -1);
  if (header === undefined) return emptyTable([], []);
  const rows = groupByPosition(texts.map((text, index) => parsePosition(text, index + 2, path)));
  const table = emptyTable(
    parseHeader(header, path),
    rows.map(([line]) => line),
  );
  const columns = columnsOf(table);
  rows.forEach((lines, row) => lines.forEach((line) => fillRow(columns, row, line, path)));
  return table;
}

/** The value of each metric's last row that has one. */
export function lastValuesOf({ values, present }: MetricTable): Map<string, number> {
  const lasts = [...values].map(
    ([metric, column]) => [metric, column[present.get(metric)?.lastIndexOf(1) ?? -1]] as const,
  );
  return new Map(lasts.filter(([, value]) => value !== undefined));
}

export interface MetricColumn {
  metric: string;
  values: Float64Array;
  present: Uint8Array;
}

/** The columns of a table as a list, for iterating over its rows. */
export function columnsOf(table: MetricTable): MetricColumn[] {
  return table.columns.flatMap((metric) => {
    const [values, present] = [table.values.get(metric), table.present.get(metric)];
    return values !== undefined && present !== undefined ? [{ metric, values, present }] : [];
  });
}

/** Compares by (epoch, step): negative if `a` comes before `b`. */
export function comparePositions(a: Position, b: Position): number {
  return a.epoch - b.epoch || a.step - b.step;
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw explainFileError(error, path, 'read');
  }
}

function parsePosition(text: string, number: number, path: string): Line {
  const [epoch, step] = text.split(',', 2).map(parseNumber);
  if (Number.isSafeInteger(epoch) && Number.isSafeInteger(step)) {
    return { text, number, epoch: Number(epoch), step: Number(step) };
  }
  throw new Error(
    `${path}, line ${number} begins with "${text.slice(0, 40)}", but a row begins with epoch and step, two integers. ` +
      'Correct or remove the line.',
  );
}

/** @returns the lines of each row, rows ascending, lines of a row in the order of the file */
function groupByPosition(lines: Line[]): [Line, ...Line[]][] {
  const rows = new Map<string, [Line, ...Line[]]>();
  for (const line of lines) {
    const key = `${line.epoch},${line.step}`;
    const row = rows.get(key);
    if (row === undefined) rows.set(key, [line]);
    else row.push(line);
  }
  return [...rows.values()].sort(([a], [b]) => comparePositions(a, b));
}

function emptyTable(columns: string[], positions: Position[]): MetricTable {
  const rowCount = positions.length;
  return {
    columns,
    epoch: Int32Array.from(positions, (position) => position.epoch),
    step: Int32Array.from(positions, (position) => position.step),
    values: new Map(columns.map((metric) => [metric, new Float64Array(rowCount).fill(Number.NaN)])),
    present: new Map(columns.map((metric) => [metric, new Uint8Array(rowCount)])),
  };
}

function fillRow(columns: readonly MetricColumn[], row: number, line: Line, path: string): void {
  const cells = line.text.split(',').slice(2);
  if (cells.length !== columns.length) {
    throw new Error(
      `${path}, line ${line.number} has ${cells.length + 2} cells, but the header has ${columns.length + 2} columns: ` +
        'the file was damaged or edited. Correct or remove the line.',
    );
  }
  for (const [index, { metric, values, present }] of columns.entries()) {
    const cell = cells[index];
    if (cell === '') continue;
    const value = parseNumber(cell);
    if (value === null) {
      throw new Error(
        `${path}, line ${line.number}, column ${metric}: "${cell}" is no number. Correct or remove the line.`,
      );
    }
    values[row] = value;
    present[row] = 1;
  }
}
