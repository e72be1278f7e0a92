import { asError } from '../../../core/text/errors.ts';
import { basename, dirname } from 'node:path';
import type { LinePortion } from '../../../core/node/read-lines.ts';
import { LineTail } from './line-tail.ts';
import { MetricColumn } from './metric-column.ts';
import { parseHeader } from './metrics-csv.ts';
import { MetricsRowReader, stepOf } from './metrics-row.ts';
import { type RowBlock, RowBlocks, readLines } from './row-blocks.ts';
import { openOwnFile } from '../../../core/node/own-files.ts';
import { runPaths } from '../runs/run-folder.ts';

export interface MetricsReader {
  point: (metric: string, epoch: number, step: number, value: number) => void;
  /** Called with the error of each invalid row, which is then skipped. */
  damaged(error: Error): void;
  /** Called if the run went back and its later rows are gone. All points are then read again. */
  reset(): void;
}

/** The state of reading a file, with the positions of its rows. */
export interface TailState {
  header: string;
  rows: number;
  /** The last row that was read. It ends at `bytes`. */
  lastRow: string;
  bytes: number;
  blocks: readonly RowBlock[];
}

/**
 * Follows `metrics.csv` of a run that may still write it. Each value is read once, even if the file is rewritten with
 * more columns. Rows that a resumed run dropped are detected. Rows can be read again by a range of steps.
 */
export class MetricsTail {
  readonly #path: string;
  readonly #tail: LineTail;
  #header: string | null = null;
  #rowReader: MetricsRowReader;
  /** Number of rows that were read. */
  #rows = 0;
  #lastRow = '';
  /** Whether rows were skipped. Somebody may have corrected them in a file that replaces this one. */
  #hasDamage = false;
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

  /** Continues where an earlier reading of the same file stopped. */
  restore({ header, rows, lastRow, bytes, blocks }: TailState): void {
    this.#setHeader(header);
    this.#rows = rows;
    this.#lastRow = lastRow;
    this.#blocks = new RowBlocks(blocks);
    this.#tail.startAt(bytes);
  }

  /** Reads the rows since the last reading. */
  async read(reader: MetricsReader): Promise<void> {
    try {
      while (!(await this.#readNew(reader))) {
        reader.reset();
        this.#tail.rewind();
        this.#header = null;
        this.#rows = 0;
        this.#hasDamage = false;
      }
    } catch (error) {
      // The rows so far were taken. The next reading finds its place by their number.
      this.#tail.rewind();
      throw error;
    }
  }

  /** Bytes to read for a range of steps. */
  bytesBetween(fromStep: number, toStep: number): number {
    return this.#blocks.between(fromStep, toStep).reduce((sum, { from, to }) => sum + to - from, 0);
  }

  /**
   * Reads all points of some metrics with steps in a range, both ends included, by metric.
   * @returns null if the file was replaced and must be read first
   */
  async readBetween(
    names: readonly string[],
    fromStep: number,
    toStep: number,
  ): Promise<Map<string, MetricColumn> | null> {
    const columns = new Map(names.map((name) => [name, new MetricColumn(Infinity)]));
    const handle = await openOwnFile(dirname(this.#path), basename(this.#path));
    try {
      if (!(await this.#tail.isOf(handle))) return null;
      for (const block of this.#blocks.between(fromStep, toStep)) {
        const place = `between bytes ${block.from} and ${block.to} a line`;
        for (const line of await readLines(handle, block)) {
          const step = stepOf(line);
          if (!(step >= fromStep && step <= toStep)) continue;
          this.#readAgain(line, place, (metric, epoch, at, value) => columns.get(metric)?.set(epoch, at, value));
        }
      }
      return columns;
    } finally {
      await handle.close();
    }
  }

  /** Reads a row again. A damaged one is skipped, as it was, with a report, when it was read first. */
  #readAgain(line: string, place: string, take: MetricsReader['point']): void {
    try {
      this.#rowReader.read(line, place, take);
    } catch {
      // Reported then.
    }
  }

  /** @returns false if the file no longer holds the rows that were read */
  async #readNew(reader: MetricsReader): Promise<boolean> {
    /** Rows from here on are new. Earlier rows are only compared with those that were read. */
    const known = this.#rows;
    /** Row of the next line; -1 is the header. */
    let row = this.#header === null ? -1 : known;
    let isCorrected = false;
    const restart = (): void => {
      row = -1;
      isCorrected = this.#hasDamage;
      this.#blocks.clear();
    };
    for await (const portion of this.#tail.read(restart)) {
      if (isCorrected || !this.#takePortion(portion, row, known, reader)) return false;
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
      if (!Number.isSafeInteger(step)) continue;
      block.firstStep = Math.min(block.firstStep, step);
      block.lastStep = Math.max(block.lastStep, step);
    }
    if (block.firstStep <= block.lastStep) this.#blocks.add(block);
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

  /** @returns its step; NaN for a damaged row */
  #takeRow(line: string, row: number, reader: MetricsReader): number {
    this.#rows = row + 1;
    this.#lastRow = line;
    try {
      return this.#rowReader.read(line, `line ${row + 2}`, reader.point);
    } catch (error) {
      this.#hasDamage = true;
      reader.damaged(asError(error));
      return Number.NaN;
    }
  }
}

/** Whether a line is the earlier one, possibly with more cells at its end because the file got more columns. */
function continues(line: string, before: string): boolean {
  return line === before || line.startsWith(`${before},`);
}
