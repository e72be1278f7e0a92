import { computed, type ComputedRef, watch } from 'vue';
import { combinationOf, splitsLayers } from '../../../../core/protocol/run/strategies/strategy-rules.ts';
import type { RunView } from '../../../../core/protocol/pages/run-views.ts';
import { memberCountOf } from '../../../../core/protocol/run/strategies/ranks-and-members.ts';
import type { ChartEvent, ChartSeries, ChartView } from '../../../charts/types.ts';
import type { MetricColumns } from '../../../stores/metric-columns.ts';
import type { RunStore } from '../../../stores/run.ts';
import { stepsPerEpoch } from '../run-facts.ts';
import { type ChartSpec, chartSpecs, type LineSpec } from './chart-specs.ts';
import { eventMarks } from '../live/event-marks.ts';
import { type LineColumns, LineColumnsCache } from './line-columns.ts';
import { anchorsOf, startMs } from '../live/run-times.ts';
import { useZoomDetail } from './use-zoom-detail.ts';

/** A line of a chart and its columns. */
export interface LiveLine {
  spec: LineSpec;
  columns: LineColumns;
}

export interface LiveCharts {
  specs: ComputedRef<ChartSpec[]>;
  /** Marks in all charts. */
  events: ComputedRef<ChartEvent[]>;
  /** The lines of a chart that have points. Depends only on their metrics. */
  linesOf(spec: ChartSpec): LiveLine[];
  /** The points of a metric that the page holds; undefined without points. */
  pointsOf(metric: string): MetricColumns | undefined;
  /** Names of all metrics that have points. */
  metrics: ComputedRef<string[]>;
}

/** The charts of a run's Live tab. */
export function useLiveCharts(run: RunStore, view: () => RunView, chartView: ChartView): LiveCharts {
  const axis = useAxis(view);
  const cache = useColumnsCache(view, axis);
  const detailed = useZoomDetail(run, chartView, (source) => cache.value.columnsOf(source));

  function linesOf({ lines }: ChartSpec): LiveLine[] {
    return lines.flatMap((spec) => {
      const source = run.columns.get(spec.metric);
      return source === undefined ? [] : [{ spec, columns: cache.value.columnsOf(detailed(source)) }];
    });
  }
  return {
    specs: useSpecs(run, view),
    events: useEventMarks(view, axis),
    linesOf,
    pointsOf: (metric) => run.columns.get(metric),
    metrics: computed(() => [...run.columns.keys()]),
  };
}

/** What places a step on the axes of epochs and of time. */
interface Axis {
  stepsPerEpoch: ComputedRef<number | null>;
  startMs: ComputedRef<number>;
}

function useAxis(view: () => RunView): Axis {
  return { stepsPerEpoch: computed(() => stepsPerEpoch(view())), startMs: computed(() => startMs(view().record)) };
}

/** Computed from strings, so that new points and progress do not create new specs. */
function useSpecs(run: RunStore, view: () => RunView): ComputedRef<ChartSpec[]> {
  const ranks = computed(() =>
    view()
      .ranks.map(({ rank }) => rank)
      .join(),
  );
  const metrics = computed(() => [...run.columns.keys()].sort().join('\n'));
  const task = computed(() => view().record.task);
  const isLive = computed(() => view().record.status === 'running');
  return computed(() =>
    chartSpecs({
      task: task.value,
      own: view().record.metrics,
      ranks: ranks.value.split(',').filter(Boolean).map(Number),
      isPipelined: splitsLayers(view().record.config.strategy),
      combination: combinationOf(view().record.config.strategy, task.value),
      memberCount: memberCountOf(view().record.config),
      metrics: new Set(metrics.value.split('\n').filter(Boolean)),
      isLive: isLive.value,
    }),
  );
}

function useColumnsCache(view: () => RunView, axis: Axis): ComputedRef<LineColumnsCache> {
  // Not tracked by Vue: progress alone must not redraw the charts.
  let latest = view();
  watch(view, (changed) => (latest = changed), { flush: 'sync' });
  return computed(
    () =>
      new LineColumnsCache({
        stepsPerEpoch: axis.stepsPerEpoch.value,
        startMs: axis.startMs.value,
        anchors: () => anchorsOf(latest),
      }),
  );
}

/** A new list only after a new event. */
function useEventMarks(view: () => RunView, axis: Axis): ComputedRef<ChartEvent[]> {
  const happened = computed(() => view().events);
  const rankCount = computed(() => view().ranks.length);
  return computed(() =>
    eventMarks(happened.value, {
      rankCount: rankCount.value,
      stepsPerEpoch: axis.stepsPerEpoch.value,
      startMs: axis.startMs.value,
    }),
  );
}

export function seriesOf({ spec, columns }: LiveLine): ChartSeries {
  const { metric, label, role, rank } = spec;
  return { id: metric, label, role, rank, ...columns };
}
