import type { HubApi } from '../../../../core/protocol/pages/rpc.ts';
import type { RunView } from '../../../../core/protocol/pages/run-views.ts';
import type { SeriesColumns } from '../../../../core/protocol/pages/run-data.ts';
import type { ChartSeries } from '../../../charts/types.ts';
import { columnsOf } from '../../../stores/metric-columns.ts';
import { LineColumnsCache } from '../../run/live/charts/line-columns.ts';
import { anchorsOf, startMs } from '../../run/live/run-times.ts';
import { stepsPerEpoch } from '../../run/run-facts.ts';
import { memberBand, memberNamesOf } from './member-band.ts';

/** A screen cannot show more points of one line. */
const maximumPoints = 4000;

/** The run's name, with the end of its id where another run has the same name. */
export function labelOf({ row }: RunView, all: readonly RunView[]): string {
  const isShared = all.some((other) => other.row.id !== row.id && other.row.name === row.name);
  return isShared ? `${row.name} (${row.id.slice(-4)})` : row.name;
}

/** The line of a run's ensemble metric with the band of its members; null where the run has no such metric. */
export async function readLine(
  hub: Pick<HubApi, 'series'>,
  run: RunView,
  metric: string,
  look: Pick<ChartSeries, 'version' | 'rank' | 'label'>,
): Promise<ChartSeries | null> {
  const { row, metrics } = run;
  const names = [metric, ...memberNamesOf(metric, metrics)];
  const { series } = await hub.series(row.id, { names, maximumPoints, fromStep: null, toStep: null });
  const ensemble = series.find(({ name }) => name === metric);
  if (ensemble === undefined) return null;
  const members = series.filter(({ name }) => name !== metric);
  return {
    ...look,
    id: row.id,
    role: 'other',
    x: axesOf(run, ensemble),
    y: ensemble.value,
    length: ensemble.value.length,
    band: members.length === 0 ? undefined : memberBand(ensemble, members),
  };
}

/** Steps, fractional epochs, and seconds since the run's start. */
function axesOf(run: RunView, points: SeriesColumns): ChartSeries['x'] {
  const { step, epoch, time } = new LineColumnsCache({
    stepsPerEpoch: stepsPerEpoch(run),
    startMs: startMs(run.record),
    anchors: () => anchorsOf(run),
  }).columnsOf(columnsOf(points, 0));
  return { step, epoch, time };
}
