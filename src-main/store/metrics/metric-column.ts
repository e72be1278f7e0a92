import { type PointBatch, type PointColumns, withRoom } from '../../../core/protocol/wire/points.ts';
import { extremesOf } from '../../../core/series/extremes.ts';

/** Default capacity of a column in points: 1.3 MB. */
const usualMaximum = 65_536;

/**
 * The points of one metric, ascending by (step, epoch); only the first `length` elements count. A full column divides
 * its points into blocks of `blockPoints` (a power of two) consecutive points and keeps the smallest, the largest and
 * the first NaN of each block, so that spikes and gaps stay. It always keeps the first point and those of the last,
 * unfinished block.
 */
export class MetricColumn implements PointColumns {
  epoch = new Int32Array();
  step = new Int32Array();
  value = new Float64Array();
  /** How many points precede each point, including discarded ones. */
  ordinal = new Int32Array();
  length = 0;
  /** Number of points ever set, including discarded ones. */
  total = 0;
  /** 1: the column holds all points. */
  blockPoints = 1;
  readonly #maximum: number;

  constructor(maximum: number = usualMaximum) {
    this.#maximum = maximum;
  }

  get isThinned(): boolean {
    return this.length < this.total;
  }

  /**
   * Sets the value of an (epoch, step), replacing an earlier value. Takes constant time on average for points in order.
   */
  set(epoch: number, step: number, value: number): void {
    if (this.length >= this.#maximum) this.#thinOut();
    const isLast = this.isBehind(epoch, step);
    if (isLast) this.#closeBlock();
    const place = isLast ? this.length : this.#place(epoch, step);
    const isKnown = !isLast && this.step[place] === step && this.epoch[place] === epoch;
    if (!isKnown) this.#makeRoom(place);
    this.epoch[place] = epoch;
    this.step[place] = step;
    this.value[place] = value;
  }

  /** Whether an (epoch, step) comes after all points. */
  isBehind(epoch: number, step: number): boolean {
    return this.length === 0 || this.#isBefore(this.length - 1, epoch, step);
  }

  /** Index of the first point at or after a step; `length` where there is none. */
  firstAt(step: number): number {
    return this.#place(-Infinity, step);
  }

  /** The number of points in `[start, end)`, including discarded ones. */
  countBetween(start: number, end: number): number {
    const ordinalAt = (index: number) => (index < this.length ? this.ordinal[index] : this.total);
    return start >= end ? 0 : ordinalAt(end) - (start === 0 ? 0 : this.ordinal[start]);
  }

  /** Index of the first point at or after (epoch, step). */
  #place(epoch: number, step: number): number {
    if (this.isBehind(epoch, step)) return this.length;
    let [low, high] = [0, this.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#isBefore(middle, epoch, step)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #isBefore(index: number, epoch: number, step: number): boolean {
    return this.step[index] < step || (this.step[index] === step && this.epoch[index] < epoch);
  }

  #blockOf(index: number): number {
    return Math.floor(this.ordinal[index] / this.blockPoints);
  }

  /** Thins the last block if the next point begins another one. */
  #closeBlock(): void {
    const isOpen = this.blockPoints === 1 || this.total % this.blockPoints !== 0;
    if (isOpen || this.length === 0) return;
    let start = this.length - 1;
    while (start > 0 && this.#blockOf(start - 1) === this.#blockOf(this.length - 1)) start -= 1;
    this.#compact(start, false);
  }

  /** Lengthens blocks until half of the capacity is free. */
  #thinOut(): void {
    while (this.length > this.#maximum / 2) {
      // Blocks of two would save nothing: both points are extremes.
      this.blockPoints *= this.blockPoints === 1 ? 4 : 2;
      this.#compact(0, true);
    }
  }

  /** Thins the blocks from index `from` on. @param keepsLast keeps the last point, because its block is unfinished */
  #compact(from: number, keepsLast: boolean): void {
    const last = keepsLast ? this.length - 1 : -1;
    let kept = from;
    for (let start = from; start < this.length;) {
      let end = start + 1;
      while (end < this.length && this.#blockOf(end) === this.#blockOf(start)) end += 1;
      const { lowest, highest, gap } = extremesOf(this.value, start, end);
      for (let index = start; index < end; index += 1) {
        const isKept = index === lowest || index === highest || index === gap || index === 0 || index === last;
        if (isKept) this.#move(index, kept++);
      }
      start = end;
    }
    this.length = kept;
  }

  #move(from: number, to: number): void {
    this.epoch[to] = this.epoch[from];
    this.step[to] = this.step[from];
    this.value[to] = this.value[from];
    this.ordinal[to] = this.ordinal[from];
  }

  #makeRoom(place: number): void {
    if (this.length === this.step.length) this.#grow();
    const isLast = place === this.length;
    if (!isLast) {
      for (let index = this.length; index > place; index -= 1) this.#move(index - 1, index);
      for (let index = place + 1; index <= this.length; index += 1) this.ordinal[index] += 1;
    }
    this.ordinal[place] = isLast ? this.total : this.ordinal[place + 1] - 1;
    this.length += 1;
    this.total += 1;
  }

  #grow(): void {
    const capacity = this.length + 1;
    this.epoch = withRoom(this.epoch, capacity);
    this.step = withRoom(this.step, capacity);
    this.value = withRoom(this.value, capacity);
    this.ordinal = withRoom(this.ordinal, capacity);
  }
}

/** The metrics of one run, in the order in which they first came. */
export class RunColumns {
  readonly #columns = new Map<string, MetricColumn>();

  get names(): string[] {
    return [...this.#columns.keys()];
  }

  get(name: string): MetricColumn | undefined {
    return this.#columns.get(name);
  }

  set(name: string, epoch: number, step: number, value: number): void {
    let column = this.#columns.get(name);
    if (column === undefined) this.#columns.set(name, (column = new MetricColumn()));
    column.set(epoch, step, value);
  }

  /** Appends the points of a batch, but for those at or before the last one of their metric, which are here already. */
  append({ names, nameIndex, epoch, step, value }: PointBatch): void {
    for (let at = 0; at < value.length; at += 1) {
      const name = names[nameIndex[at]];
      if (this.get(name)?.isBehind(epoch[at], step[at]) ?? true) this.set(name, epoch[at], step[at], value[at]);
    }
  }

  /** Takes a column as it is, in place of what was there of the metric. */
  put(name: string, column: MetricColumn): void {
    this.#columns.set(name, column);
  }

  clear(): void {
    this.#columns.clear();
  }
}
