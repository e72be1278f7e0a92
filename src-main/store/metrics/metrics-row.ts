import { parseNumber } from './metrics-csv.ts';

/** Parses rows. Its metrics are those of the header, in the order of the columns. */
export class MetricsRowReader {
  readonly metrics: readonly string[];
  readonly #path: string;

  constructor(path: string, metrics: readonly string[]) {
    this.#path = path;
    this.metrics = metrics;
  }

  /**
   * @param place of the row, for messages
   * @returns its step
   * @throws Error with the place of an invalid row
   */
  read(
    line: string,
    place: string,
    take: (metric: string, epoch: number, step: number, value: number) => void,
  ): number {
    const [epochCell, stepCell, ...cells] = line.split(',');
    const [epoch, step] = [parseNumber(epochCell), parseNumber(stepCell ?? '')];
    if (!isCount(epoch) || !isCount(step) || cells.length !== this.metrics.length) {
      throw new Error(
        `${this.#path}, ${place} is "${line.slice(0, 40)}", but a row has epoch and step, two whole numbers, and ` +
          `${this.metrics.length} more cells. Correct or remove the line.`,
      );
    }
    for (let index = 0; index < cells.length; index += 1) {
      if (cells[index] === '') continue;
      const value = parseNumber(cells[index]);
      if (value === null) {
        throw new Error(
          `${this.#path}, ${place}, column ${this.metrics[index]}: "${cells[index]}" is no number. Correct or remove the line.`,
        );
      }
      take(this.metrics[index], epoch, step, value);
    }
    return step;
  }
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
