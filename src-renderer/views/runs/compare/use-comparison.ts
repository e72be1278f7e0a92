import { useTimeoutFn } from '@vueuse/core';
import { computed, type ComputedRef, onScopeDispose, watch } from 'vue';
import type { HubApi, RunView, SeriesColumns } from '../../../../core/protocol/pages/rpc.ts';
import { useHub } from '../../../client/use-hub.ts';
import { type Loaded, useLoaded } from '../../../composables/use-loaded.ts';
import type { ChartSeries } from '../../../charts/types.ts';
import { columnsOf } from '../../../stores/metric-columns.ts';
import { useRunsStore } from '../../../stores/runs.ts';
import { LineColumnsCache } from '../../run/live/charts/line-columns.ts';
import { anchorsOf, startMs } from '../../run/live/run-times.ts';
import { stepsPerEpoch } from '../../run/run-facts.ts';
import { memberBand, memberNamesOf } from './member-band.ts';

/** A screen has no more to show of one line. */
const maximumPoints = 4000;
/** Runs that train are read again so long after the last reading: each costs some thousand points. */
const followMs = 1000;

/** The runs of the comparison, read again when one of them begins, ends, or gets its first metrics. */
export function useComparedRuns(ids: ComputedRef<string[]>): Loaded<RunView[]> {
  const hub = useHub();
  const runs = useRunsStore();
  const loaded = useLoaded(() => Promise.all(ids.value.map((id) => hub.run(id))));
  const statuses = computed(() => ids.value.map((id) => runs.byId.get(id)?.status).join());
  watch([ids, statuses], () => void loaded.reload());
  repeat(async () => {
    const lacksMetrics = loaded.data.value?.some(
      ({ metrics, row }) => row.status === 'running' && metrics.length === 0,
    );
    if (lacksMetrics) await loaded.reload();
  });
  return loaded;
}

/** One line a run for a metric of the ensembles, with the band of its members; lines of runs that train go on. */
export function useComparedLines(runs: ComputedRef<RunView[]>, metric: ComputedRef<string>): Loaded<ChartSeries[]> {
  const hub = useHub();
  /** By run, of the metric that was read last. */
  let known = new Map<string, ChartSeries>();
  let knownMetric = '';
  // Every reading draws a line anew: it may be thinned differently.
  let version = 0;

  async function readLine(run: RunView, place: number): Promise<ChartSeries | null> {
    const before = known.get(run.record.id);
    if (before !== undefined && run.row.status !== 'running') return { ...before, rank: place };
    return lineOf(hub, run, metric.value, { version, rank: place, label: labelOf(run, runs.value) });
  }

  const loaded = useLoaded(async () => {
    version += 1;
    const asked = metric.value;
    if (asked !== knownMetric) known = new Map();
    const lines = (await Promise.all(runs.value.map(readLine))).filter((line) => line !== null);
    const ended = new Set(runs.value.filter(({ row }) => row.status !== 'running').map(({ record }) => record.id));
    known = new Map(lines.filter(({ id }) => ended.has(id)).map((line) => [line.id, line]));
    knownMetric = asked;
    return lines;
  });
  watch([runs, metric], () => void loaded.reload());
  repeat(async () => {
    if (runs.value.some(({ row }) => row.status === 'running')) await loaded.reload();
  });
  return loaded;
}

/** Repeats an action while the component lives and its page is visible, with a pause after each time. */
function repeat(action: () => Promise<void>): void {
  let isOver = false;
  onScopeDispose(() => (isOver = true));
  const { start } = useTimeoutFn(() => void tick(), followMs);
  async function tick(): Promise<void> {
    if (!document.hidden) await action();
    if (!isOver) start();
  }
}

/** Its name; with the end of its id where another run has the same. */
export function labelOf({ record, row }: RunView, all: readonly RunView[]): string {
  const isShared = all.some((other) => other.record.id !== record.id && other.row.name === row.name);
  return isShared ? `${row.name} (${record.id.slice(-4)})` : row.name;
}

async function lineOf(
  hub: HubApi,
  run: RunView,
  metric: string,
  look: Pick<ChartSeries, 'version' | 'rank' | 'label'>,
): Promise<ChartSeries | null> {
  const { record, metrics } = run;
  const members = memberNamesOf(metric, metrics);
  const { series } = await hub.series(record.id, {
    names: [metric, ...members],
    maximumPoints,
    fromStep: null,
    toStep: null,
  });
  const ensemble = series.find(({ name }) => name === metric);
  if (ensemble === undefined) return null;
  const others = series.filter(({ name }) => name !== metric);
  return {
    ...look,
    id: record.id,
    role: 'other',
    x: axesOf(run, ensemble),
    y: ensemble.value,
    length: ensemble.value.length,
    band: others.length === 0 ? undefined : memberBand(ensemble, others),
  };
}

/** Fractional epochs, and seconds since the run's own start. */
function axesOf(run: RunView, points: SeriesColumns): ChartSeries['x'] {
  const { step, epoch, time } = new LineColumnsCache({
    stepsPerEpoch: stepsPerEpoch(run),
    startMs: startMs(run.record),
    anchors: () => anchorsOf(run),
  }).columnsOf(columnsOf(points, 0));
  return { step, epoch, time };
}
