import type { SeriesColumns, SeriesData, SeriesRequest } from '../../protocol/rpc.ts';
import type { MetricColumn } from '../store/metric-columns.ts';
import { thin } from '../store/query.ts';
import type { HubParts } from './parts.ts';

/** Points that thinning keeps of a bucket at most: the smallest, the largest, a gap. */
const pointsPerBucket = 3;

/** The points of some metrics within a range of steps; names that the run does not have are left out. */
export async function readSeries({ feed }: HubParts, id: string, request: SeriesRequest): Promise<SeriesData> {
  const { columns } = await feed.open(id);
  const names = request.names.length === 0 ? columns.names : request.names;
  const series = names.flatMap((name) => {
    const column = columns.get(name);
    return column === undefined ? [] : thinColumn(name, column, request);
  });
  return { series };
}

/** One point on each side of the range comes along: there the line leaves the view. */
function thinColumn(
  name: string,
  column: MetricColumn,
  { fromStep, toStep, maximumPoints }: SeriesRequest,
): SeriesColumns {
  const start = fromStep === null ? 0 : Math.max(0, column.firstAt(fromStep) - 1);
  const end = toStep === null ? column.length : Math.min(column.length, column.firstAt(toStep + 1) + 1);
  const [epoch, step] = [column.epoch, column.step].map((array) => array.slice(start, end));
  const value = column.value.slice(start, end);
  const total = end - start;
  if (total <= maximumPoints) return { name, epoch, step, value, total };
  // Of the points at both ends thinning keeps two more.
  const kept = thin(step, value, Math.floor((maximumPoints - 2) / pointsPerBucket));
  return {
    name,
    epoch: kept.map((index) => epoch[index]),
    step: kept.map((index) => step[index]),
    value: Float64Array.from(kept, (index) => value[index]),
    total,
  };
}
