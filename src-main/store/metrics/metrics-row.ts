import { parseNumber, type Position } from './metrics-csv.ts';

/** A row and its values by column; null where it has none. */
export interface ParsedRow extends Position {
  cells: (number | null)[];
}

/** Parses rows. Its metrics are those of the header, in the order of the columns. */
export class MetricsRowReader {
  readonly metrics: readonly string[];
  readonly #path: string;

  constructor(path: string, metrics: readonly string[]) {
    this.#path = path;
    this.metrics = metrics;
  }

  /**
   * Calls `take` for each value of a row.
   * @param place of the row, for messages
   * @returns its step
   * @throws Error with the place of an invalid row
   */
  read(
    line: string,
    place: string,
    take: (metric: string, epoch: number, step: number, value: number) => void,
  ): number {
    const { epoch, step, cells } = this.parse(line, place);
    for (const [column, value] of cells.entries()) {
      if (value !== null) take(this.metrics[column], epoch, step, value);
    }
    return step;
  }

  /** @param place of the row, for messages @throws Error with the place of an invalid row */
  parse(line: string, place: string): ParsedRow {
    const [epochCell, stepCell, ...cells] = line.split(',');
    const [epoch, step] = [parseNumber(epochCell), parseNumber(stepCell ?? '')];
    if (isCount(epoch) && isCount(step) && cells.length === this.metrics.length) {
      return { epoch, step, cells: cells.map((cell, column) => this.#value(cell, column, place)) };
    }
    throw new Error(
      `${this.#path}, ${place} is "${line.slice(0, 40)}", but a row has epoch and step, two whole numbers, and ` +
        `${this.metrics.length} more cells. Correct or remove the line.`,
    );
  }

  #value(cell: string, column: number, place: string): number | null {
    if (cell === '') return null;
    const value = parseNumber(cell);
    if (value !== null) return value;
    throw new Error(
      `${this.#path}, ${place}, column ${this.metrics[column]}: "${cell}" is no number. Correct or remove the line.`,
    );
  }
}

/** The (epoch, step) of a row that was already validated. */
export function positionOf(line: string): Position {
  return { epoch: Number(line.slice(0, line.indexOf(','))), step: stepOf(line) };
}

/** The step of a row that was already validated. */
export function stepOf(line: string): number {
  const start = line.indexOf(',') + 1;
  const end = line.indexOf(',', start);
  return Number(line.slice(start, end < 0 ? undefined : end));
}

function isCount(value: number | null): value is number {
  return Number.isSafeInteger(value);
}
