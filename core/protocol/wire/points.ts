import type { WireArray } from './frames.ts';

/**
 * Points of metrics by column: `value[i]` was measured at `epoch[i]` and `step[i]`. All that carries points, from the
 * trainer to the chart, is these columns and says which metric they belong to. The columns travel as arrays of a frame,
 * not as JSON, so NaN and infinities are preserved. Where a `length` stands beside them, only the first `length`
 * elements count, and the rest is room for more.
 */
export interface PointColumns {
  /** Zero-based epoch, shape [P]. */
  epoch: Int32Array<ArrayBuffer>;
  /** Steps done so far, shape [P]. */
  step: Int32Array<ArrayBuffer>;
  /** Shape [P]. */
  value: Float64Array<ArrayBuffer>;
}

/** Points of several metrics, in the order in which they were reported. */
export interface PointBatch extends PointColumns {
  names: string[];
  /** Index into `names`, shape [P]. */
  nameIndex: Int32Array<ArrayBuffer>;
  /** Milliseconds since 1970, shape [P]; NaN for points from a file, which holds no times. */
  timeMs: Float64Array<ArrayBuffer>;
}

/** Points of one metric, by ascending step: all of `total`, or those that thinning kept of them. */
export interface MetricPoints extends PointColumns {
  name: string;
  total: number;
}

/** Points in the order in which they came, from which batches are cut. */
export class PointBuffer {
  readonly #indexOf = new Map<string, number>();
  #columns = emptyColumns();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(name: string, epoch: number, step: number, value: number, timeMs = Number.NaN): void {
    let index = this.#indexOf.get(name);
    if (index === undefined) this.#indexOf.set(name, (index = this.#indexOf.size));
    if (this.#length === this.#columns.step.length) this.#columns = grown(this.#columns);
    this.#columns.nameIndex[this.#length] = index;
    this.#columns.epoch[this.#length] = epoch;
    this.#columns.step[this.#length] = step;
    this.#columns.value[this.#length] = value;
    this.#columns.timeMs[this.#length] = timeMs;
    this.#length += 1;
  }

  /** A copy of the points `[start, end)` with the names of their metrics alone. */
  slice(start: number, end = this.#length): PointBatch {
    const { nameIndex, epoch, step, value, timeMs } = this.#columns;
    const all = [...this.#indexOf.keys()];
    const own = nameIndex.slice(start, Math.min(end, this.#length));
    const used = [...new Set(own)];
    const placeOf = new Map(used.map((index, place) => [index, place]));
    return {
      names: used.map((index) => all[index]),
      nameIndex: own.map((index) => placeOf.get(index) ?? 0),
      epoch: epoch.slice(start, start + own.length),
      step: step.slice(start, start + own.length),
      value: value.slice(start, start + own.length),
      timeMs: timeMs.slice(start, start + own.length),
    };
  }

  /** Removes the first `count` points. */
  drop(count: number): void {
    const left = Math.max(0, this.#length - count);
    if (left > 0) for (const column of Object.values(this.#columns)) column.copyWithin(0, count, this.#length);
    else this.#columns = emptyColumns();
    if (left === 0) this.#indexOf.clear();
    this.#length = left;
  }

  /** Removes and returns all points. */
  take(): PointBatch {
    const batch = this.slice(0);
    this.drop(this.#length);
    return batch;
  }
}

type BufferColumns = Omit<PointBatch, 'names'>;

function emptyColumns(): BufferColumns {
  return {
    nameIndex: new Int32Array(),
    epoch: new Int32Array(),
    step: new Int32Array(),
    value: new Float64Array(),
    timeMs: new Float64Array(),
  };
}

function grown({ nameIndex, epoch, step, value, timeMs }: BufferColumns): BufferColumns {
  const capacity = step.length + 1;
  return {
    nameIndex: withRoom(nameIndex, capacity),
    epoch: withRoom(epoch, capacity),
    step: withRoom(step, capacity),
    value: withRoom(value, capacity),
    timeMs: withRoom(timeMs, capacity),
  };
}

/**
 * The column if it holds `capacity` elements, else a copy of at least twice its size, so that appending takes constant
 * time on average.
 */
export function withRoom<B extends ArrayBufferLike>(
  column: Int32Array<B>,
  capacity: number,
): Int32Array<B | ArrayBuffer>;
export function withRoom<B extends ArrayBufferLike>(
  column: Float64Array<B>,
  capacity: number,
): Float64Array<B | ArrayBuffer>;
export function withRoom(column: Int32Array | Float64Array, capacity: number): Int32Array | Float64Array {
  if (column.length >= capacity) return column;
  const room = Math.max(64, 2 * column.length, capacity);
  const grown = column instanceof Int32Array ? new Int32Array(room) : new Float64Array(room);
  grown.set(column);
  return grown;
}

/** The columns of a batch as the arrays of a frame, whose message has the names. */
export function arraysOfBatch({ nameIndex, epoch, step, value, timeMs }: PointBatch): WireArray[] {
  return [nameIndex, epoch, step, value, timeMs];
}

/**
 * A batch from the names and arrays of a frame.
 * @throws Error if columns are missing, have other types or lengths, or name no metric
 */
export function pointBatch(names: string[], arrays: WireArray[]): PointBatch {
  const [nameIndex, epoch, step, value, timeMs] = arrays;
  const fits =
    nameIndex instanceof Int32Array &&
    epoch instanceof Int32Array &&
    step instanceof Int32Array &&
    value instanceof Float64Array &&
    timeMs instanceof Float64Array &&
    [epoch, step, value, timeMs].every(({ length }) => length === nameIndex.length);
  if (!fits)
    throw new Error('A batch of points did not have its five columns: worker and hub are of different versions.');
  const stray = nameIndex.find((index) => index < 0 || index >= names.length);
  if (stray !== undefined)
    throw new Error(`A batch of points with ${names.length} metrics has a point of metric ${stray}.`);
  return { names, nameIndex, epoch, step, value, timeMs };
}
