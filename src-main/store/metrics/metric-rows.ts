import { join } from 'node:path';
import { asError } from '../../../core/text/errors.ts';
import type { FileHandle } from 'node:fs/promises';
import { readPortions } from '../../../core/node/read-lines.ts';
import { unlessMissing, explainFileError } from '../../../core/node/file-error.ts';
import { openOwnFile } from '../../../core/node/own-files.ts';
import { comparePositions, parseHeader, type Position } from './metrics-csv.ts';
import { MetricsRowReader, type ParsedRow, positionOf } from './metrics-row.ts';
import { readLines } from './row-blocks.ts';

/** Whole lines of the file and the smallest (epoch, step) in them. */
interface Block extends Position {
  from: number;
  to: number;
  /** Number of its first line, one-based, as editors count. */
  line: number;
}

interface Line extends Position {
  text: string;
  number: number;
}

/**
 * The rows of `metrics.csv`, one per (epoch, step) in ascending order, of a file of any size: it is read in pieces, and
 * only pieces with rows of the same range of positions are in memory together. Lines with the same (epoch, step) become
 * one row with the later values. Works while the file is written: a last line without a line break, and all that comes
 * later, are left out.
 */
export class MetricRows {
  /** Metrics, in the order of their columns. */
  readonly columns: readonly string[];
  readonly lastStep: number;
  /** Lines of the file after its header, also damaged ones. */
  readonly lineCount: number;
  readonly #handle: FileHandle | null;
  readonly #reader: MetricsRowReader;
  readonly #blocks: readonly Block[];
  readonly #damaged: ReadonlySet<number>;

  constructor(handle: FileHandle | null, found: Scan) {
    this.columns = found.reader.metrics;
    this.lastStep = found.lastStep;
    this.lineCount = found.lineCount;
    this.#handle = handle;
    this.#reader = found.reader;
    this.#blocks = found.blocks.toSorted(comparePositions);
    this.#damaged = found.damaged;
  }

  /** The rows, in portions of some thousands. */
  async *[Symbol.asyncIterator](): AsyncGenerator<ParsedRow[]> {
    /** Lines of the pieces read so far that may still get company, in order. */
    let held: Line[] = [];
    for (const [index, block] of this.#blocks.entries()) {
      held = inOrder([...held, ...(await this.#read(block))]);
      const next = this.#blocks.at(index + 1);
      const end = next === undefined ? -1 : held.findIndex((line) => comparePositions(line, next) >= 0);
      yield this.#merge(end < 0 ? held : held.slice(0, end));
      held = end < 0 ? [] : held.slice(end);
    }
  }

  async #read(block: Block): Promise<Line[]> {
    if (this.#handle === null) return [];
    const texts = await readLines(this.#handle, block);
    const lines = texts.map((text, index) => ({ text, number: block.line + index, ...positionOf(text) }));
    const hasHeader = block.line === 1;
    return hasHeader || this.#damaged.size > 0
      ? lines.filter(({ number }) => number > 1 && !this.#damaged.has(number))
      : lines;
  }

  #merge(lines: readonly Line[]): ParsedRow[] {
    const rows: ParsedRow[] = [];
    for (const { text, number } of lines) {
      const row = this.#reader.parse(text, `line ${number}`);
      const last = rows.at(-1);
      if (last === undefined || comparePositions(last, row) !== 0) rows.push(row);
      else rows[rows.length - 1] = { ...row, cells: row.cells.map((cell, column) => cell ?? last.cells[column]) };
    }
    return rows;
  }
}

/** Most pieces are in order as they are. */
function inOrder(lines: Line[]): Line[] {
  const compare = (a: Line, b: Line): number => comparePositions(a, b) || a.number - b.number;
  const isSorted = lines.every((line, index) => index === 0 || compare(lines[index - 1], line) < 0);
  return isSorted ? lines : lines.sort(compare);
}

/**
 * Opens `metrics.csv` for `use` and checks every line first. A run without the file has no rows.
 * @param onDamage called with the error of each invalid line, which is then left out; without it the first one throws
 */
export async function withMetricRows<T>(
  folder: string,
  use: (rows: MetricRows) => Promise<T>,
  onDamage: (damage: Error) => void = raise,
): Promise<T> {
  const rows = await openMetricRows(folder, onDamage);
  try {
    return await use(rows.rows);
  } finally {
    await rows.close();
  }
}

/**
 * Like {@link withMetricRows}, for callers that close the file themselves.
 * @param name of a copy of `metrics.csv`, relative to the run's folder
 */
export async function openMetricRows(
  folder: string,
  onDamage: (damage: Error) => void = raise,
  name = 'metrics.csv',
): Promise<{ rows: MetricRows; close: () => Promise<void> }> {
  const path = join(folder, name);
  try {
    const handle = await unlessMissing(openOwnFile(folder, name));
    const close = async (): Promise<void> => handle?.close();
    try {
      return { rows: new MetricRows(handle, await scan(handle, path, onDamage)), close };
    } catch (error) {
      await close();
      throw error;
    }
  } catch (error) {
    throw explainFileError(error, path, 'read');
  }
}

interface Scan {
  reader: MetricsRowReader;
  blocks: Block[];
  lastStep: number;
  lineCount: number;
  damaged: Set<number>;
}

async function scan(handle: FileHandle | null, path: string, onDamage: (damage: Error) => void): Promise<Scan> {
  const found: Scan = {
    reader: new MetricsRowReader(path, []),
    blocks: [],
    lastStep: 0,
    lineCount: 0,
    damaged: new Set(),
  };
  if (handle === null) return found;
  let number = 0;
  for await (const { lines, from, to } of readPortions(handle, 0)) {
    const block: Block = { from, to, line: number + 1, epoch: Infinity, step: Infinity };
    for (const line of lines) {
      number += 1;
      if (number === 1) found.reader = new MetricsRowReader(path, parseHeader(line, path));
      else takeLine(found, block, line, number, onDamage);
    }
    if (block.step < Infinity) found.blocks.push(block);
  }
  found.lineCount = Math.max(0, number - 1);
  return found;
}

function takeLine(found: Scan, block: Block, line: string, number: number, onDamage: (damage: Error) => void): void {
  try {
    const row = found.reader.parse(line, `line ${number}`);
    found.lastStep = Math.max(found.lastStep, row.step);
    if (comparePositions(row, block) < 0) [block.epoch, block.step] = [row.epoch, row.step];
  } catch (error) {
    onDamage(asError(error));
    found.damaged.add(number);
  }
}

function raise(error: Error): never {
  throw error;
}
