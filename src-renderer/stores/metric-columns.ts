import { type MetricPoints, type PointBatch, type PointColumns, withRoom } from '../../core/protocol/wire/points.ts';

/**
 * The points of one metric by column, ascending by step; only the first `length` elements are valid. The arrays have
 * spare capacity and are shared between versions: elements within `length` never change.
 */
export interface MetricColumns extends Readonly<PointColumns> {
  readonly name: string;
  /** Milliseconds since 1970; NaN for points from disk, which stores no time. */
  readonly timeMs: Float64Array;
  readonly length: number;
  /** Changes when existing points change; appending does not change it. */
  readonly version: number;
  /** Whether the hub thinned the points, keeping extremes. A request for a range of steps returns all points. */
  readonly isThinned: boolean;
  /** Mean distance between the hub's points when they were read, in steps; 0 for fewer than two points. */
  readonly stepsPerPoint: number;
}

/** How many points of a metric were measured, of which the page may hold only some. */
export function measuredCount({
  step,
  length,
  isThinned,
  stepsPerPoint,
}: Pick<MetricColumns, 'step' | 'length' | 'isThinned' | 'stepsPerPoint'>): number {
  if (!isThinned || length < 2 || stepsPerPoint === 0) return length;
  return Math.max(length, Math.round((step[length - 1] - step[0]) / stepsPerPoint) + 1);
}

/** Columns of points that the hub read from disk. */
export function columnsOf({ name, epoch, step, value, total }: MetricPoints, version: number): MetricColumns {
  const timeMs = new Float64Array(value.length).fill(NaN);
  const length = value.length;
  const stepsPerPoint = length < 2 ? 0 : (step[length - 1] - step[0]) / (total - 1);
  return { name, epoch, step, timeMs, value, length, version, isThinned: total > length, stepsPerPoint };
}

/**
 * Appends the points of a batch to the columns of their metrics. Points at or before a metric's last step are ignored:
 * they were also read from disk.
 *
 * @returns the columns that changed, by name
 */
export function appendPoints(
  columns: ReadonlyMap<string, MetricColumns>,
  batch: PointBatch,
): Map<string, MetricColumns> {
  const changed = new Map<string, MetricColumns>();
  for (const [nameIndex, indices] of groupByName(batch)) {
    const name = batch.names[nameIndex];
    const before = columns.get(name) ?? emptyColumns(name);
    const lastStep = before.length === 0 ? -1 : before.step[before.length - 1];
    const fresh = indices.filter((index) => batch.step[index] > lastStep);
    if (fresh.length > 0) changed.set(name, append(before, batch, fresh));
  }
  return changed;
}

function emptyColumns(name: string): MetricColumns {
  const [epoch, step] = [new Int32Array(), new Int32Array()];
  return {
    name,
    epoch,
    step,
    timeMs: new Float64Array(),
    value: new Float64Array(),
    length: 0,
    version: 0,
    isThinned: false,
    stepsPerPoint: 0,
  };
}

function groupByName({ nameIndex }: PointBatch): Map<number, number[]> {
  return Map.groupBy(nameIndex.keys(), (point) => nameIndex[point]);
}

function append(before: MetricColumns, batch: PointBatch, indices: number[]): MetricColumns {
  const length = before.length + indices.length;
  const [epoch, step] = [withRoom(before.epoch, length), withRoom(before.step, length)];
  const [timeMs, value] = [withRoom(before.timeMs, length), withRoom(before.value, length)];
  for (const [offset, index] of indices.entries()) {
    const end = before.length + offset;
    epoch[end] = batch.epoch[index];
    step[end] = batch.step[index];
    timeMs[end] = batch.timeMs[index];
    value[end] = batch.value[index];
  }
  return { ...before, epoch, step, timeMs, value, length };
}
