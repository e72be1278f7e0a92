import type { HubApi } from '../../../../core/protocol/pages/rpc.ts';
import type { RunView } from '../../../../core/protocol/pages/run-views.ts';
import type { SeriesColumns } from '../../../../core/protocol/pages/run-data.ts';
import type { ChartSeries } from '../../../charts/types.ts';
import { columnsOf } from '../../../stores/metric-columns.ts';
import { LineColumnsCache } from '../../run/live/charts/line-columns.ts';
import { anchorsOf, startMs } from '../../run/live/run-times.ts';
import { stepsPerEpoch } from '../../run/run-facts.ts';
import type { ComparedSubject } from './compared-subject.ts';
import { memberBand, memberNamesOf } from './member-band.ts';
import { meanLine } from './sweep-line.ts';

/** A screen cannot show more points of one line. */
const maximumPoints = 4000;

/** The line of a run, or the mean line of a sweep's runs; null where none has such a metric. */
export async function readSubjectLine(
  hub: Pick<HubApi, 'series'>,
  { id, sweep, runs }: ComparedSubject,
  metric: string,
  look: Pick<ChartSeries, 'version' | 'rank' | 'label'>,
): Promise<ChartSeries | null> {
  if (sweep === null) return readLine(hub, runs[0], metric, look);
  const lines = await Promise.all(runs.map((run) => readLine(hub, run, metric, look, false)));
  const found = lines.filter((line) => line !== null);
  return found.length === 0 ? null : { ...look, id, role: 'other', ...meanLine(found) };
}

/** The line of a run's ensemble metric with the band of its members; null where the run has no such metric. */
async function readLine(
  hub: Pick<HubApi, 'series'>,
  run: RunView,
  metric: string,
  look: Pick<ChartSeries, 'version' | 'rank' | 'label'>,
  hasBand = true,
): Promise<ChartSeries | null> {
  const { row, metrics } = run;
  const names = [metric, ...(hasBand ? memberNamesOf(metric, metrics) : [])];
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
