import { computed, type ComputedRef, watch } from 'vue';
import type { RunView } from '../../../../../core/protocol/pages/run-views.ts';
import { memberCountOf } from '../../../../../core/protocol/run/strategy-rules.ts';
import type { ChartEvent, ChartSeries, ChartView } from '../../../../charts/types.ts';
import type { RunStore } from '../../../../stores/run.ts';
import { stepsPerEpoch } from '../../run-facts.ts';
import { type ChartSpec, chartSpecs, type LineSpec } from './chart-specs.ts';
import { eventMarks } from '../event-marks.ts';
import { type LineColumns, LineColumnsCache } from './line-columns.ts';
import { anchorsOf, startMs } from '../run-times.ts';
import { useZoomDetail } from './use-zoom-detail.ts';

/** A line of a chart together with the columns behind it. */
export interface LiveLine {
  spec: LineSpec;
  columns: LineColumns;
}

export interface LiveCharts {
  specs: ComputedRef<ChartSpec[]>;
  /** What all charts mark. */
  events: ComputedRef<ChartEvent[]>;
  /** The lines of a chart that have points. Depends on those metrics alone. */
  linesOf(spec: ChartSpec): LiveLine[];
}

/** The charts of a run's Live tab. */
export function useLiveCharts(run: RunStore, view: () => RunView, chartView: ChartView): LiveCharts {
  const ranks = computed(() =>
    view()
      .ranks.map(({ rank }) => rank)
      .join(),
  );
  const metrics = computed(() => [...run.columns.keys()].sort().join('\n'));
  const task = computed(() => view().record.task);
  const isLive = computed(() => view().record.status === 'running');
  // From texts, so that points and progress alone leave the charts as they are.
  const specs = computed(() =>
    chartSpecs({
      task: task.value,
      ranks: ranks.value.split(',').filter(Boolean).map(Number),
      memberCount: memberCountOf(view().record.config),
      metrics: new Set(metrics.value.split('\n').filter(Boolean)),
      isLive: isLive.value,
    }),
  );

  // Apart from what Vue tracks: progress alone should not have the charts drawn anew.
  let latest = view();
  watch(view, (changed) => (latest = changed), { flush: 'sync' });
  const perEpoch = computed(() => stepsPerEpoch(view()));
  const begunMs = computed(() => startMs(view().record));
  const cache = computed(
    () =>
      new LineColumnsCache({
        stepsPerEpoch: perEpoch.value,
        startMs: begunMs.value,
        anchors: () => anchorsOf(latest),
      }),
  );

  const detailed = useZoomDetail(run, chartView, (source) => cache.value.columnsOf(source));

  function linesOf({ lines }: ChartSpec): LiveLine[] {
    return lines.flatMap((spec) => {
      const source = run.columns.get(spec.metric);
      return source === undefined ? [] : [{ spec, columns: cache.value.columnsOf(detailed(source)) }];
    });
  }

  // The list itself is a new one only when something happened.
  const happened = computed(() => view().events);
  const rankCount = computed(() => view().ranks.length);
  const events = computed(() =>
    eventMarks(happened.value, {
      rankCount: rankCount.value,
      stepsPerEpoch: perEpoch.value,
      startMs: begunMs.value,
    }),
  );
  return { specs, events, linesOf };
}

export function seriesOf({ spec, columns }: LiveLine): ChartSeries {
  const { metric, label, role, rank } = spec;
  const { step, epoch, time, value, length, version } = columns;
  return { id: metric, label, role, rank, x: { step, epoch, time }, y: value, length, version };
}
