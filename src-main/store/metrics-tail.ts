import { LineTail } from './line-tail.ts';
import { parseHeader, parseNumber } from './metrics-csv.ts';
import { runPaths } from './run-folder.ts';

export interface MetricsReader {
  point(metric: string, epoch: number, step: number, value: number): void;
  /** The run went back, and its later rows are gone: everything comes anew from here. */
  reset(): void;
}

/**
 * Follows `metrics.csv` of a run that may still write it. Each value is read once, also when the file is rewritten with
 * more columns; rows that a resumed run dropped are noticed.
 */
export class MetricsTail {
  readonly #path: string;
  readonly #tail: LineTail;
  #header: string | null = null;
  #metrics: string[] = [];
  /** Rows that were read, and the last of them. */
  #rows = 0;
  #lastRow = '';

  constructor(folder: string) {
    this.#path = runPaths(folder).metrics;
    this.#tail = new LineTail(this.#path);
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

  /** @returns false where the file no longer holds what was read of it */
  async #readOn(reader: MetricsReader): Promise<boolean> {
    /** Rows from here on are new; those before are only held against what was read. */
    const known = this.#rows;
    /** Of the next line; -1 is the header. */
    let row = this.#header === null ? -1 : known;
    for await (const lines of this.#tail.read(() => void (row = -1))) {
      for (const line of lines) {
        if (row >= known) this.#takeRow(line, row, reader);
        else if (!(row < 0 ? this.#takeHeader(line) : this.#isKnownRow(line, row))) return false;
        row += 1;
      }
    }
    return row >= known || this.#header === null;
  }

  #takeHeader(line: string): boolean {
    if (this.#header !== null && !continues(line, this.#header)) return false;
    this.#metrics = parseHeader(line, this.#path);
    this.#header = line;
    return true;
  }

  #isKnownRow(line: string, row: number): boolean {
    return row < this.#rows - 1 || continues(line, this.#lastRow);
  }

  #takeRow(line: string, row: number, reader: MetricsReader): void {
    this.#readRow(line, row + 2, reader);
    this.#rows = row + 1;
    this.#lastRow = line;
  }

  #readRow(line: string, lineNumber: number, reader: MetricsReader): void {
    const [epochCell, stepCell, ...cells] = line.split(',');
    const [epoch, step] = [parseNumber(epochCell), parseNumber(stepCell ?? '')];
    if (!isCount(epoch) || !isCount(step) || cells.length !== this.#metrics.length) {
      throw new Error(
        `${this.#path}, line ${lineNumber} is "${line.slice(0, 40)}", but a row has epoch and step, two whole numbers, and ` +
          `${this.#metrics.length} more cells. Correct or remove the line.`,
      );
    }
    for (const [index, metric] of this.#metrics.entries()) {
      if (cells[index] === '') continue;
      const value = parseNumber(cells[index]);
      if (value === null) {
        throw new Error(
          `${this.#path}, line ${lineNumber}, column ${metric}: "${cells[index]}" is no number. Correct or remove the line.`,
        );
      }
      reader.point(metric, epoch, step, value);
    }
  }
}

/** A file that got more columns has the same lines, each with more cells at its end. */
function continues(line: string, before: string): boolean {
  return line === before || line.startsWith(`${before},`);
}

function isCount(value: number | null): value is number {
  return Number.isSafeInteger(value);
}
