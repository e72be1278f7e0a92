import { open } from 'node:fs/promises';
import { explainFileError } from '../../../core/node/file-error.ts';
import { type LinePortion, LineTail } from './line-tail.ts';
import { MetricColumn } from './metric-column.ts';
import { parseHeader } from './metrics-csv.ts';
import { MetricsRowReader, stepOf } from './metrics-row.ts';
import { type RowBlock, RowBlocks, readLines } from './row-blocks.ts';
import { runPaths } from '../runs/run-folder.ts';

export interface MetricsReader {
  point: (metric: string, epoch: number, step: number, value: number) => void;
  /** The run went back, and its later rows are gone: everything comes anew from here. */
  reset(): void;
}

/** How far a file was read, and what stands where in it. */
export interface TailState {
  header: string;
  rows: number;
  /** The last row that was read; it ends at `bytes`. */
  lastRow: string;
  bytes: number;
  blocks: readonly RowBlock[];
}

/**
 * Follows `metrics.csv` of a run that may still write it. Each value is read once, also when the file is rewritten with
 * more columns; rows that a resumed run dropped are noticed. What was read can be read again by range of steps.
 */
export class MetricsTail {
  readonly #path: string;
  readonly #tail: LineTail;
  #header: string | null = null;
  #rowReader: MetricsRowReader;
  /** Rows that were read, and the last of them. */
  #rows = 0;
  #lastRow = '';
  #blocks = new RowBlocks();

  constructor(folder: string) {
    this.#path = runPaths(folder).metrics;
    this.#tail = new LineTail(this.#path);
    this.#rowReader = new MetricsRowReader(this.#path, []);
  }

  /** Bytes that were read so far. */
  get bytes(): number {
    return this.#tail.bytes;
  }

  /** Null before the first row. */
  get state(): TailState | null {
    if (this.#header === null || this.#rows === 0) return null;
    const [header, rows, lastRow] = [this.#header, this.#rows, this.#lastRow];
    return { header, rows, lastRow, bytes: this.#tail.bytes, blocks: this.#blocks.all };
  }

  /** Goes on where an earlier reading of the same file stopped. */
  restore({ header, rows, lastRow, bytes, blocks }: TailState): void {
    this.#setHeader(header);
    this.#rows = rows;
    this.#lastRow = lastRow;
    this.#blocks = new RowBlocks(blocks);
    this.#tail.startAt(bytes);
  }

  /** Reads what has come since the last time. @throws Error naming the line of what is no row */
  async read(reader: MetricsReader): Promise<void> {
    try {
      while (!(await this.#readOn(reader))) {
        reader.reset();
        this.#tail.rewind();
        this.#header = null;
        this.#rows = 0;
      }
    } catch (error) {
      // The rows before the damaged one were taken: the next time finds out by their number where to go on.
      this.#tail.rewind();
      throw error;
    }
  }

  /** What reading a range of steps again costs. */
  bytesBetween(fromStep: number, toStep: number): number {
    return this.#blocks.between(fromStep, toStep).reduce((sum, { from, to }) => sum + to - from, 0);
  }

  /**
   * All points of some metrics with steps in a range, both ends included, by metric.
   * @returns null where the file is not the one that was read: read on first
   */
  async readBetween(
    names: readonly string[],
    fromStep: number,
    toStep: number,
  ): Promise<Map<string, MetricColumn> | null> {
    const columns = new Map(names.map((name) => [name, new MetricColumn(Infinity)]));
    const handle = await open(this.#path).catch((error: unknown) => {
      throw explainFileError(error, this.#path, 'read');
    });
    try {
      if (!(await this.#tail.isOf(handle))) return null;
      for (const block of this.#blocks.between(fromStep, toStep)) {
        const place = `between bytes ${block.from} and ${block.to} a line`;
        for (const line of await readLines(handle, block)) {
          const step = stepOf(line);
          if (step < fromStep || step > toStep) continue;
          this.#rowReader.read(line, place, (metric, epoch, at, value) => columns.get(metric)?.set(epoch, at, value));
        }
      }
      return columns;
    } finally {
      await handle.close();
    }
  }

  /** @returns false where the file no longer holds what was read of it */
  async #readOn(reader: MetricsReader): Promise<boolean> {
    /** Rows from here on are new; those before are only held against what was read. */
    const known = this.#rows;
    /** Of the next line; -1 is the header. */
    let row = this.#header === null ? -1 : known;
    const restart = (): void => {
      row = -1;
      this.#blocks.clear();
    };
    for await (const portion of this.#tail.read(restart)) {
      if (!this.#takePortion(portion, row, known, reader)) return false;
      row += portion.lines.length;
    }
    return row >= known || this.#header === null;
  }

  #takePortion({ lines, from, to }: LinePortion, first: number, known: number, reader: MetricsReader): boolean {
    const block = { from, to, firstStep: Infinity, lastStep: -Infinity };
    for (const [index, line] of lines.entries()) {
      const row = first + index;
      if (row < 0) {
        if (!this.#takeHeader(line)) return false;
        block.from += Buffer.byteLength(line) + 1;
        continue;
      }
      if (row < known && !this.#isKnownRow(line, row)) return false;
      const step = row < known ? stepOf(line) : this.#takeRow(line, row, reader);
      block.firstStep = Math.min(block.firstStep, step);
      block.lastStep = Math.max(block.lastStep, step);
    }
    if (block.to > block.from) this.#blocks.add(block);
    return true;
  }

  #takeHeader(line: string): boolean {
    if (this.#header !== null && !continues(line, this.#header)) return false;
    this.#setHeader(line);
    return true;
  }

  #setHeader(line: string): void {
    this.#rowReader = new MetricsRowReader(this.#path, parseHeader(line, this.#path));
    this.#header = line;
  }

  #isKnownRow(line: string, row: number): boolean {
    return row < this.#rows - 1 || continues(line, this.#lastRow);
  }

  /** @returns its step */
  #takeRow(line: string, row: number, reader: MetricsReader): number {
    const step = this.#rowReader.read(line, `line ${row + 2}`, reader.point);
    this.#rows = row + 1;
    this.#lastRow = line;
    return step;
  }
}

/** A file that got more columns has the same lines, each with more cells at its end. */
function continues(line: string, before: string): boolean {
  return line === before || line.startsWith(`${before},`);
}
