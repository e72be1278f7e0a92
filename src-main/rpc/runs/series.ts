import type { SeriesData, SeriesRequest } from '../../../core/protocol/pages/run-data.ts';
import type { MetricPoints } from '../../../core/protocol/wire/points.ts';
import type { FollowedRun } from '../../hub/followed-run.ts';
import type { MetricColumn } from '../../store/metrics/metric-column.ts';
import type { HubParts } from '../../hub/run-feed.ts';
import { extremesOf, spread } from '../../../core/series/extremes.ts';
import type { RunRow } from '../../../core/protocol/pages/run-list.ts';

/** Maximum number of points that thinning keeps of a bucket: the smallest, the largest, a gap. */
const pointsPerBucket = 3;
/** Maximum bytes of a run's metrics that are read again for one answer, which takes a few tenths of a second. */
const rereadBytes = 48 * 2 ** 20;

/**
 * The points of some metrics within a range of steps. Unknown names are skipped. The hub holds only the extremes of a
 * long metric: if these are fewer than the points of the range and fewer than requested, the run's file is read again.
 */
export async function readSeries({ feed }: HubParts, id: string, request: SeriesRequest): Promise<SeriesData> {
  const run = await feed.open(id);
  const names = request.names.length === 0 ? run.columns.names : request.names;
  const reread = await readAgain(run, names, request);
  const series = names.flatMap((name) => {
    const column = reread.get(name) ?? run.columns.get(name);
    return column === undefined ? [] : selectPoints(name, column, request);
  });
  return { series };
}

/** Reads the metrics again whose points in the range are not all in memory. */
async function readAgain(
  run: FollowedRun,
  names: readonly string[],
  request: SeriesRequest,
): Promise<Map<string, MetricColumn>> {
  let [from, to] = [Infinity, -Infinity];
  const lacking = names.filter((name) => {
    const column = run.columns.get(name);
    if (column === undefined || !column.isThinned) return false;
    const [start, end] = rangeOf(column, request);
    const held = end - start;
    if (held === column.countBetween(start, end) || held >= request.maximumPoints) return false;
    // Extends the range to the held points on both sides: the true neighbours are between them.
    [from, to] = [Math.min(from, column.step[start]), Math.max(to, column.step[end - 1])];
    return true;
  });
  if (lacking.length === 0) return new Map();
  await run.locateRows();
  if (run.bytesBetween(from, to) > rereadBytes) return new Map();
  return run.readBetween(lacking, from, to);
}

/** The indices of the range, with one more point on each side, where the line leaves the view. */
function rangeOf(column: MetricColumn, { fromStep, toStep }: SeriesRequest): [start: number, end: number] {
  return [
    fromStep === null ? 0 : Math.max(0, column.firstAt(fromStep) - 1),
    toStep === null ? column.length : Math.min(column.length, column.firstAt(toStep + 1) + 1),
  ];
}

function selectPoints(name: string, column: MetricColumn, request: SeriesRequest): MetricPoints {
  const [start, end] = rangeOf(column, request);
  const [epoch, step] = [column.epoch, column.step].map((array) => array.slice(start, end));
  const value = column.value.slice(start, end);
  const total = column.countBetween(start, end);
  if (step.length <= request.maximumPoints) return { name, epoch, step, value, total };
  // Thinning also keeps the two points at the ends.
  const kept = thin(step, value, Math.floor((request.maximumPoints - 2) / pointsPerBucket));
  return {
    name,
    epoch: kept.map((index) => epoch[index]),
    step: kept.map((index) => step[index]),
    value: Float64Array.from(kept, (index) => value[index]),
    total,
  };
}

/**
 * Thins a curve for a view: cuts x into buckets of equal width and keeps the smallest y, the largest y and the first
 * NaN of each, so that no spike and no gap is lost. Always keeps the first and the last point.
 * @param x ascending, shape [P]
 * @param y may hold NaN and infinities, shape [P]
 * @param buckets about one per pixel column of the view
 * @returns ascending indices of the points to keep: at most `3 buckets + 2`, or all of up to `2 buckets` points
 */
export function thin(x: Float64Array | Int32Array, y: Float64Array, buckets: number): Int32Array {
  if (x.length !== y.length || !Number.isInteger(buckets) || buckets < 1) {
    throw new RangeError(
      `Cannot thin ${x.length} x and ${y.length} y into ${buckets} buckets: equal lengths and at least 1.`,
    );
  }
  if (x.length <= 2 * buckets) return Int32Array.from(x.keys());
  const bucketOf = bucketer(x, buckets);
  const kept = [0];
  for (let start = 0; start < x.length;) {
    let end = start + 1;
    while (end < x.length && bucketOf(x[end]) === bucketOf(x[start])) end += 1;
    const { lowest, highest, gap } = extremesOf(y, start, end);
    kept.push(...[lowest, highest, gap].filter((index) => index >= 0).sort((a, b) => a - b));
    start = end;
  }
  kept.push(x.length - 1);
  return Int32Array.from(new Set(kept));
}

function bucketer(x: Float64Array | Int32Array, buckets: number): (value: number) => number {
  const first = x[0];
  const width = (x[x.length - 1] - first) / buckets;
  return width > 0 ? (value) => Math.min(Math.floor((value - first) / width), buckets - 1) : () => 0;
}

/** A sparkline shows no more. */
const maximumPoints = 48;
/** Reading the metrics of many long runs takes longer; pages ask again for what is missing. */
const patienceMs = 500;

/** The course of the monitored metric of each run that has one. Ended runs are read once and kept in the index. */
export async function readTrends(parts: HubParts, ids: readonly string[]): Promise<Record<string, Float64Array>> {
  const startedMs = performance.now();
  const rows = parts.hub.runs({ ids: [...ids] });
  const found: [id: string, points: Float64Array][] = [];
  const unread: RunRow[] = [];
  for (const row of rows) {
    const kept = row.endedAt === null ? null : parts.hub.index.trends.get(row.folder, stampOf(row));
    if (kept !== null) found.push([row.id, kept]);
    else unread.push(row);
  }
  for (const row of unread) {
    if (performance.now() - startedMs > patienceMs) break;
    const points = await readTrend(parts, row);
    if (row.endedAt !== null) parts.hub.index.trends.put(row.folder, stampOf(row), points);
    found.push([row.id, points]);
  }
  return Object.fromEntries(found);
}

async function readTrend({ feed }: HubParts, { id, best }: RunRow): Promise<Float64Array> {
  if (best === null) return new Float64Array();
  const column = (await feed.open(id)).columns.get(best.metric);
  return column === undefined ? new Float64Array() : spread(column.value, column.length, maximumPoints);
}

function stampOf({ endedAt, best }: RunRow): string {
  return `${endedAt ?? ''} ${best?.metric ?? ''}`;
}
