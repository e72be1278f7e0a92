import { withRoom } from '../../core/protocol/wire/points.ts';
import { extremesOf, finiteNumbers } from '../../core/series/extremes.ts';
import { indicesWithin } from './columns.ts';
import type { ChartRange, Column } from './types.ts';

/**
 * How a line is cut into buckets: every `width` of x (or of log10 x), counted from 0 instead of the window's start, so
 * that only the last bucket changes while a run grows.
 */
export interface BucketGrid {
  width: number;
  isLog: boolean;
  /** The visible part of x. Lines keep one more point on each side, where they leave the window. */
  window: ChartRange;
}

/**
 * A grid with at most `maximum` + 1 buckets in the window. Widths are powers of two, so that a growing run rarely
 * changes them.
 */
export function bucketGrid(window: ChartRange, isLog: boolean, maximum: number): BucketGrid {
  const span = isLog ? Math.log10(window.to / window.from) : window.to - window.from;
  return { width: span > 0 ? 2 ** Math.ceil(Math.log2(span / maximum)) : 1, isLog, window };
}

/** Whether lines cut for the old grid only need new points to fit the grown one. */
export function canGrow(old: BucketGrid, grown: BucketGrid): boolean {
  const sameCuts = old.width === grown.width && old.isLog === grown.isLog && old.window.from === grown.window.from;
  return sameCuts && old.window.to <= grown.window.to;
}

/**
 * A line thinned to the smallest and the largest value of each bucket, in their order, so that no spike is lost. A
 * bucket with a value that is not finite ends in NaN, which draws a gap. With one point per bucket, as after zooming
 * in, it is the line itself.
 */
export class ThinnedLine {
  #grid: BucketGrid;
  #x: Float64Array = new Float64Array(256);
  #y: Float64Array = new Float64Array(256);
  #count = 0;
  /** Where the last bucket, which may still grow, begins in the columns and in the thinned line. */
  #openIndex: number | null = null;
  #openCount = 0;

  constructor(grid: BucketGrid) {
    this.#grid = grid;
  }

  get grid(): BucketGrid {
    return this.#grid;
  }

  /** Thinned x; only the first `count` elements count. */
  get x(): Float64Array {
    return this.#x;
  }

  /** Thinned y; only the first `count` elements count. */
  get y(): Float64Array {
    return this.#y;
  }

  get count(): number {
    return this.#count;
  }

  /** Adds the points appended to the columns. @param grid one that `canGrow` allows for this line's grid */
  extend(x: Column, y: Float64Array, length: number, grid: BucketGrid): void {
    this.#grid = grid;
    const [first, after] = indicesWithin(x, length, grid.window);
    this.#count = this.#openCount;
    let index = this.#openIndex ?? Math.max(0, first - 1);
    const end = Math.min(length, after + 1);
    while (index < end) {
      this.#openIndex = index;
      this.#openCount = this.#count;
      index = this.#addBucket(x, y, index, end);
    }
  }

  /** Adds the bucket that begins at `start`. @returns where the next one begins */
  #addBucket(x: Column, y: Float64Array, start: number, end: number): number {
    const { width, isLog } = this.#grid;
    // A logarithm cannot place x below 0: all of it shares one bucket, as x = 0 does.
    const position = isLog ? Math.log10(Math.max(0, x[start])) : x[start];
    const border = (Math.floor(position / width) + 1) * width;
    const limit = isLog ? 10 ** border : border;
    let next = start + 1;
    while (next < end && x[next] < limit) next += 1;
    const { lowest, highest, gap } = extremesOf(y, start, next, finiteNumbers);
    const [earlier, later] = [Math.min(lowest, highest), Math.max(lowest, highest)];
    if (earlier !== -1) this.#push(x[earlier], y[earlier]);
    if (later !== earlier) this.#push(x[later], y[later]);
    if (gap !== -1) this.#push(x[next - 1], NaN);
    return next;
  }

  #push(x: number, y: number): void {
    this.#x = withRoom(this.#x, this.#count + 1);
    this.#y = withRoom(this.#y, this.#count + 1);
    this.#x[this.#count] = x;
    this.#y[this.#count] = y;
    this.#count++;
  }
}

type Points = Pick<ThinnedLine, 'x' | 'y' | 'count'>;

/** The smallest and the largest value of several lines along x. */
export interface Envelope {
  lower: Points;
  upper: Points;
}

/**
 * The band between the smallest and the largest of several lines, bucket by bucket of the grid that thinned them. As
 * thinned lines keep the extremes of each bucket, it covers all their points. Values that are not finite do not count.
 */
export function envelopeOf(lines: readonly Points[], grid: BucketGrid): Envelope {
  const buckets = new Map<number, { x: number; low: number; high: number }>();
  for (const { x, y, count } of lines) {
    for (let index = 0; index < count; index++) {
      if (Number.isFinite(y[index])) widen(buckets, bucketOf(x[index], grid), x[index], y[index]);
    }
  }
  const ordered = [...buckets].sort(([a], [b]) => a - b).map(([, bucket]) => bucket);
  const x = Float64Array.from(ordered, (bucket) => bucket.x);
  const count = ordered.length;
  return {
    lower: { x, y: Float64Array.from(ordered, ({ low }) => low), count },
    upper: { x, y: Float64Array.from(ordered, ({ high }) => high), count },
  };
}

function bucketOf(x: number, { width, isLog }: BucketGrid): number {
  return Math.floor((isLog ? Math.log10(Math.max(0, x)) : x) / width);
}

function widen(
  buckets: Map<number, { x: number; low: number; high: number }>,
  key: number,
  x: number,
  value: number,
): void {
  const bucket = buckets.get(key);
  if (bucket === undefined) buckets.set(key, { x, low: value, high: value });
  else {
    bucket.low = Math.min(bucket.low, value);
    bucket.high = Math.max(bucket.high, value);
  }
}
