import { nearestIndex } from '../../../charts/points/columns.ts';
import type { ChartAxis, ChartRange } from '../../../charts/types.ts';
import type { LineColumns } from './charts/line-columns.ts';

/** Converts between times and places on an axis that may count steps or epochs, by the line with the most points. */
export class Timeline {
  readonly #axis: ChartAxis;
  readonly #line: (LineColumns & { time: Float64Array }) | null;

  constructor(axis: ChartAxis, lines: readonly LineColumns[]) {
    this.#axis = axis;
    const timed = lines.filter((line): line is LineColumns & { time: Float64Array } => line.time !== null);
    this.#line = timed.toSorted((left, right) => right.length - left.length).at(0) ?? null;
  }

  /** Seconds since the run's start at a place on the axis; null without a line. */
  secondsAt(x: number): number | null {
    if (this.#axis === 'time') return x;
    const line = this.#line;
    return line === null ? null : line.time[nearestIndex(line[this.#axis], line.length, x)];
  }

  /** The place on the axis that the run had reached at a time; null without a line. */
  xAt(seconds: number): number | null {
    if (this.#axis === 'time') return seconds;
    const line = this.#line;
    return line === null ? null : line[this.#axis][nearestIndex(line.time, line.length, seconds)];
  }

  /** The part of the run that the charts show, in seconds: all of it unless they are zoomed in. */
  range(zoom: ChartRange | null, endSeconds: number): ChartRange {
    const whole = { from: 0, to: endSeconds || 1 };
    if (zoom === null) return whole;
    const [from, to] = [this.secondsAt(zoom.from), this.secondsAt(zoom.to)];
    return from !== null && to !== null && to > from ? { from, to } : whole;
  }
}
