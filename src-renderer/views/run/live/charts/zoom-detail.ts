import { bisectRight } from 'd3-array';
import { indicesWithin } from '../../../../charts/points/columns.ts';
import type { ChartAxis, ChartRange } from '../../../../charts/types.ts';
import type { SeriesColumns } from '../../../../../core/protocol/pages/run-data.ts';
import type { MetricColumns } from '../../../../stores/metric-columns.ts';
import type { LineColumns } from './line-columns.ts';

/** All points of a thinned metric within a range of steps, and a neighbour on each side. */
export interface ZoomDetail {
  points: SeriesColumns;
  /** Of the metric with these points in it; another one for each detail. */
  version: number;
  /** Whether it goes as far as the metric did when it was read: then what comes later belongs to it. */
  reachesEnd: boolean;
}

/** The steps around a stretch of an axis, as far as a line tells: its nearest points outside come along. Null without points. */
export function stepsAround(columns: LineColumns, axis: ChartAxis, window: ChartRange): ChartRange | null {
  const x = columns[axis];
  if (x === null || columns.length === 0) return null;
  const last = columns.length - 1;
  const [start, end] = indicesWithin(x, columns.length, window);
  const [before, after] = [Math.min(last, Math.max(0, start - 1)), Math.min(last, end)];
  return { from: columns.step[before], to: columns.step[after] };
}

/**
 * A metric as it is drawn while its detail is in view: the first and the last point, which say how far the axis goes, and between
 * them the detail alone.
 */
export function withDetail(source: MetricColumns, { points, version, reachesEnd }: ZoomDetail): MetricColumns {
  const lastStep = points.step[points.step.length - 1];
  const later = bisectRight(source.step, lastStep, 0, source.length);
  const hasHead = points.step.length > 0 && source.step[0] < points.step[0];
  const head = hasHead ? 1 : 0;
  const tail = reachesEnd ? later : Math.max(later, source.length - 1);
  const length = head + points.step.length + source.length - tail;
  const columns = {
    epoch: new Int32Array(length),
    step: new Int32Array(length),
    value: new Float64Array(length),
    timeMs: new Float64Array(length).fill(NaN),
  };
  for (const key of ['epoch', 'step', 'value'] as const) {
    columns[key].set(source[key].subarray(0, head));
    columns[key].set(points[key], head);
    columns[key].set(source[key].subarray(tail, source.length), head + points.step.length);
  }
  columns.timeMs.set(source.timeMs.subarray(tail, source.length), head + points.step.length);
  return { ...source, ...columns, length, version, isThinned: points.total > points.step.length };
}
