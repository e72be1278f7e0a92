import { useTimeoutFn } from '@vueuse/core';
import { onScopeDispose, watch } from 'vue';
import type { ChartRange, ChartView } from '../../../../charts/types.ts';
import { useHub } from '../../../../client/use-hub.ts';
import type { MetricColumns } from '../../../../stores/metric-columns.ts';
import type { RunStore } from '../../../../stores/run.ts';
import { useToastsStore } from '../../../../stores/toasts.ts';
import type { LineColumns } from './line-columns.ts';
import { stepsToRead, ZoomDetails } from './zoom-detail.ts';

/** One turn of the wheel soon follows another. */
const settleMs = 200;
/** Several for each pixel of a wide screen. */
const maximumPoints = 20_000;

/**
 * Reads thinned metrics again when the page zooms in, because the hub has all their points. Until they arrive, and outside the
 * zoom, the thinned points are shown.
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
