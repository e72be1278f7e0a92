import { onScopeDispose, shallowReactive, watch } from 'vue';
import { longestMemory } from '../../../../charts/points/smoothing.ts';
import type { ChartRange, ChartView } from '../../../../charts/types.ts';
import { useHub } from '../../../../client/use-hub.ts';
import type { MetricColumns } from '../../../../stores/metric-columns.ts';
import type { RunStore } from '../../../../stores/run.ts';
import { useToastsStore } from '../../../../stores/toasts.ts';
import type { LineColumns } from './line-columns.ts';
import { stepsAround, withDetail, type ZoomDetail } from './zoom-detail.ts';

/** A turn of the wheel is soon followed by another. */
const settleMs = 200;
/** Several for each pixel of a wide screen. */
const maximumPoints = 20_000;

interface KeptDetail extends ZoomDetail {
  /** Of details that end before the metric does, which stay as they are. */
  columns: MetricColumns | null;
}

/**
 * Reads thinned metrics again when the page zooms in: the hub has all their points. Until they have come, and wherever the zoom leaves
 * them, the thinned ones are shown.
 *
 * @param axesOf a metric's columns of all axes, as they are drawn now
 * @returns a metric with the detail that there is of it
 */
export function useZoomDetail(
  run: RunStore,
  chartView: ChartView,
  axesOf: (source: MetricColumns) => LineColumns,
): (source: MetricColumns) => MetricColumns {
  const hub = useHub();
  const toasts = useToastsStore();
  const details = shallowReactive(new Map<string, KeptDetail>());
  /** What the details were read for. */
  let covered: ChartRange | null = null;
  let turn = 0;
  let versions = 0;
  let timer: ReturnType<typeof setTimeout> | null = null;

  function cancel(): void {
    turn += 1;
    if (timer !== null) clearTimeout(timer);
    timer = null;
  }

  function forget(): void {
    details.clear();
    covered = null;
  }

  function detailed(source: MetricColumns): MetricColumns {
    const detail = source.isThinned ? details.get(source.name) : undefined;
    if (detail === undefined) return source;
    if (detail.reachesEnd) return withDetail(source, detail);
    return (detail.columns ??= withDetail(source, detail));
  }

  /** What the page holds only in part, as it is drawn now. */
  function lacking(): MetricColumns[] {
    return [...run.columns.values()]
      .filter((source) => source.isThinned)
      .filter((source) => detailed(source).isThinned);
  }

  async function read(window: ChartRange): Promise<void> {
    const own = turn;
    const sources = lacking();
    const ranges = sources.flatMap((source) => {
      const range = stepsAround(axesOf(detailed(source)), chartView.axis, window);
      // Smoothing begins so far to the left that in the window it is what it would be from the start.
      const before = Math.ceil(longestMemory * source.stepsPerPoint);
      return range === null ? [] : [{ from: Math.max(0, range.from - before), to: range.to }];
    });
    if (ranges.length === 0) return;
    const fromStep = Math.min(...ranges.map(({ from }) => from));
    const toStep = Math.max(...ranges.map(({ to }) => to));
    const names = sources.map(({ name }) => name);
    await toasts.attempt(async () => {
      const { series } = await hub.series(run.id, { names, maximumPoints, fromStep, toStep });
      if (own !== turn) return;
      covered = window;
      for (const points of series) keep(points, toStep);
    });
  }

  function keep(points: ZoomDetail['points'], toStep: number): void {
    const source = run.columns.get(points.name);
    if (source === undefined || points.step.length === 0) return;
    versions += 1;
    // Below those of the metrics themselves, which count from 0.
    const reachesEnd = toStep >= source.step[source.length - 1];
    details.set(points.name, { points, version: -versions, reachesEnd, columns: null });
  }

  watch(
    [() => chartView.zoom, () => chartView.axis],
    ([zoom], [, axisBefore]) => {
      cancel();
      const isWithin = zoom !== null && covered !== null && zoom.from >= covered.from && zoom.to <= covered.to;
      if (!isWithin || chartView.axis !== axisBefore) forget();
      if (zoom !== null) timer = setTimeout(() => void read(zoom), settleMs);
    },
    { immediate: true, flush: 'sync' },
  );
  // What was read anew has other points, or was not there when the address asked for its zoom.
  watch(
    () => run.isLoading,
    (isLoading) => {
      if (isLoading) return;
      cancel();
      forget();
      const { zoom } = chartView;
      if (zoom !== null) void read(zoom);
    },
  );
  onScopeDispose(cancel);
  return detailed;
}
