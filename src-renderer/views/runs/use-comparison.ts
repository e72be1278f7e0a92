import { type ComputedRef, watch } from 'vue';
import type { HubApi, RunView } from '../../../protocol/rpc.ts';
import { useHub } from '../../client/use-hub.ts';
import { type Loaded, useLoaded } from '../../composables/use-loaded.ts';
import type { ChartSeries } from '../../charts/types.ts';
import { memberBand, memberNamesOf } from './member-band.ts';

/** A screen has no more to show of one line. */
const maximumPoints = 4000;

/** The runs of the comparison. */
export function useComparedRuns(ids: ComputedRef<string[]>): Loaded<RunView[]> {
  const hub = useHub();
  const loaded = useLoaded(() => Promise.all(ids.value.map((id) => hub.run(id))));
  watch(ids, () => void loaded.reload());
  return loaded;
}

/** One line a run for a metric of the ensembles, with the band of its members. */
export function useComparedLines(runs: ComputedRef<RunView[]>, metric: ComputedRef<string>): Loaded<ChartSeries[]> {
  const hub = useHub();
  // Every reading draws lines anew: they may be thinned differently.
  let version = 0;
  const loaded = useLoaded(async () => {
    version += 1;
    const lines = await Promise.all(runs.value.map((run) => lineOf(hub, run, metric.value, version)));
    return lines.filter((line) => line !== null);
  });
  watch([runs, metric], () => void loaded.reload());
  return loaded;
}

async function lineOf(
  hub: HubApi,
  { record, row, metrics }: RunView,
  metric: string,
  version: number,
): Promise<ChartSeries | null> {
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
    id: record.id,
    label: row.name,
    role: 'other',
    x: { step: ensemble.step, epoch: ensemble.epoch, time: null },
    y: ensemble.value,
    length: ensemble.value.length,
    version,
    band: others.length === 0 ? undefined : memberBand(ensemble, others),
  };
}
