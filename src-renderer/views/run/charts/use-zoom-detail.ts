import { useTimeoutFn } from '@vueuse/core';
import { onScopeDispose, shallowReactive, watch } from 'vue';
import type { ChartAxis, ChartRange, ChartView } from '../../../charts/types.ts';
import { useHub } from '../../../client/use-hub.ts';
import type { MetricColumns } from '../../../stores/metric-columns.ts';
import type { RunStore } from '../../../stores/run.ts';
import { useToastsStore } from '../../../stores/toasts.ts';
import type { LineColumns } from './line-columns.ts';
import { bisectRight } from 'd3-array';
import type { MetricPoints } from '../../../../core/protocol/wire/points.ts';
import { indicesWithin } from '../../../charts/columns.ts';
import { longestMemory } from '../../../charts/smoothing.ts';

/** One turn of the wheel soon follows another. */
const settleMs = 200;
/** Several for each pixel of a wide screen. */
const maximumPoints = 20_000;

/**
 * Reads thinned metrics again when the page zooms in, because the hub has all their points. Until they arrive, and
 * outside the zoom, the thinned points are shown.
 *
 * @param axesOf a metric's columns of all axes, as drawn now
 * @returns gives a metric with the detail that there is of it
 */
export function useZoomDetail(
  run: RunStore,
  chartView: ChartView,
  axesOf: (source: MetricColumns) => LineColumns,
): (source: MetricColumns) => MetricColumns {
  const details = new ZoomDetails();
  const { read, cancel } = useDetailReader(run, chartView, details, axesOf);
  const settled = useTimeoutFn((zoom: ChartRange) => void read(zoom), settleMs, { immediate: false });
  watch(
    [() => chartView.zoom, () => chartView.axis],
    ([zoom], [, axisBefore]) => {
      cancel();
      settled.stop();
      if (zoom === null || !details.cover(zoom) || chartView.axis !== axisBefore) details.clear();
      if (zoom !== null) settled.start(zoom);
    },
    { immediate: true, flush: 'sync' },
  );
  // A run that was read anew has other points, or had none when the page opened zoomed in.
  watch(
    () => run.isLoading,
    (isLoading) => {
      if (isLoading) return;
      cancel();
      settled.stop();
      details.clear();
      if (chartView.zoom !== null) void read(chartView.zoom);
    },
  );
  return (source) => details.applyTo(source);
}

/** Reads details from the hub; `cancel` discards an answer that is still to come. */
function useDetailReader(
  run: RunStore,
  chartView: ChartView,
  details: ZoomDetails,
  axesOf: (source: MetricColumns) => LineColumns,
): { read: (window: ChartRange) => Promise<void>; cancel: () => void } {
  const hub = useHub();
  const toasts = useToastsStore();
  let turn = 0;

  async function read(window: ChartRange): Promise<void> {
    const own = turn;
    const sources = [...run.columns.values()].flatMap((source) => {
      const shown = details.applyTo(source);
      return shown.isThinned ? [{ source, columns: axesOf(shown) }] : [];
    });
    const steps = stepsToRead(sources, chartView.axis, window);
    if (steps === null) return;
    const names = sources.map(({ source }) => source.name);
    await toasts.attempt(async () => {
      const request = { names, maximumPoints, fromStep: steps.from, toStep: steps.to };
      const { series } = await hub.series(run.id, request);
      if (own === turn) details.keep(window, series, run.columns, steps.to);
    });
  }

  const cancel = (): void => void (turn += 1);
  onScopeDispose(cancel);
  return { read, cancel };
}

/** All points of a thinned metric within a range of steps, and a neighbour on each side. */
interface ZoomDetail {
  points: MetricPoints;
  /** The version of the metric with these points; unique to each detail. */
  version: number;
  /** Whether it reached the metric's end when it was read: then newer points follow it. */
  reachesEnd: boolean;
}

/** The steps of a window of an axis, extended to the line's nearest points outside. Null without points. */
export function stepsAround(columns: LineColumns, axis: ChartAxis, window: ChartRange): ChartRange | null {
  const x = columns.x[axis];
  if (x === null || columns.length === 0) return null;
  const last = columns.length - 1;
  const [start, end] = indicesWithin(x, columns.length, window);
  const [before, after] = [Math.min(last, Math.max(0, start - 1)), Math.min(last, end)];
  return { from: columns.x.step[before], to: columns.x.step[after] };
}

/**
 * The steps to read for a window, over all metrics of the page; null where none has points.
 * @param sources metrics with the columns of their axes as drawn now
 */
function stepsToRead(
  sources: readonly { source: MetricColumns; columns: LineColumns }[],
  axis: ChartAxis,
  window: ChartRange,
): ChartRange | null {
  const ranges = sources.flatMap(({ source, columns }) => {
    const range = stepsAround(columns, axis, window);
    if (range === null) return [];
    // Smoothing starts early enough that the window shows what it would show from the first point on.
    const before = Math.ceil(longestMemory * source.stepsPerPoint);
    return [{ from: Math.max(0, range.from - before), to: range.to }];
  });
  if (ranges.length === 0) return null;
  return { from: Math.min(...ranges.map(({ from }) => from)), to: Math.max(...ranges.map(({ to }) => to)) };
}

/**
 * A metric as drawn while its detail is in view: its first and last point, which span the axis, and between them only
 * the detail.
 */
export function withDetail(source: MetricColumns, { points, version, reachesEnd }: ZoomDetail): MetricColumns {
  const lastStep = points.step[points.step.length - 1];
  const later = bisectRight(source.step, lastStep, 0, source.length);
  const head = points.step.length > 0 && source.step[0] < points.step[0] ? 1 : 0;
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

/** The details of a page's metrics for one window of its axis. Vue tracks which metric has one. */
class ZoomDetails {
  readonly #details = shallowReactive(new Map<string, ZoomDetail>());
  /** Merged columns of details that end before their metric does, which new points do not change. */
  readonly #merged = new WeakMap<ZoomDetail, MetricColumns>();
  #window: ChartRange | null = null;
  #versions = 0;

  clear(): void {
    this.#details.clear();
    this.#window = null;
  }

  /** Whether the details are those of a window that contains this one. */
  cover(zoom: ChartRange): boolean {
    return this.#window !== null && zoom.from >= this.#window.from && zoom.to <= this.#window.to;
  }

  /** Keeps what was read for a window. @param metrics as they are now @param toStep the last step that was asked for */
  keep(
    window: ChartRange,
    series: readonly MetricPoints[],
    metrics: ReadonlyMap<string, MetricColumns>,
    toStep: number,
  ): void {
    this.#window = window;
    for (const points of series) {
      const source = metrics.get(points.name);
      if (source === undefined || points.step.length === 0) continue;
      const reachesEnd = toStep >= source.step[source.length - 1];
      this.#versions += 1;
      // Negative: versions of the metrics themselves count up from 0.
      this.#details.set(points.name, { points, version: -this.#versions, reachesEnd });
    }
  }

  /** The metric with its detail, if there is one. */
  applyTo(source: MetricColumns): MetricColumns {
    const detail = source.isThinned ? this.#details.get(source.name) : undefined;
    if (detail === undefined) return source;
    if (detail.reachesEnd) return withDetail(source, detail);
    const merged = this.#merged.get(detail) ?? withDetail(source, detail);
    this.#merged.set(detail, merged);
    return merged;
  }
}
