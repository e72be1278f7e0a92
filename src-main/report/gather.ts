import type { ReportData } from '../../core/protocol/pages/run-data.ts';
import type { MetricPoints } from '../../core/protocol/wire/points.ts';
import type { Hub } from '../hub/hub.ts';
import { LiveRuns } from '../hub/live-runs.ts';
import { RunFeed, type HubParts } from '../hub/run-feed.ts';
import { readPostprocessing } from '../rpc/runs/postprocessing.ts';
import { listPredictions, readPredictions } from '../rpc/runs/predictions.ts';
import { RunList } from '../rpc/runs/run-list.ts';
import { viewRun } from '../rpc/runs/run-views.ts';
import { readSeries } from '../rpc/runs/series.ts';

/** All points of a report: some 8 MB before compression. */
const pointBudget = 500_000;
const maximumPointsPerMetric = 4000;
const minimumPointsPerMetric = 300;
/** Predictions beyond this size are left out: the report must open anywhere. */
const maximumPredictionBytes = 32 * 2 ** 20;

/** Reads what the report of a run shows, with the functions that answer pages. Runs no code of the project. */
export async function gatherReport(hub: Hub, id: string, version: string): Promise<ReportData> {
  const rethrow = (error: unknown): never => {
    throw error;
  };
  const live = new LiveRuns(hub, rethrow);
  const parts: HubParts = { hub, live, feed: new RunFeed(hub, live, rethrow) };
  const list = new RunList(hub, rethrow);
  try {
    const view = await viewRun(parts, id);
    const origin = view.record.origin?.run;
    return {
      writtenAt: new Date().toISOString(),
      version,
      view,
      series: await readAllSeries(parts, id, view.metrics.length),
      deviceLoads: (await parts.feed.open(id)).deviceLoads,
      predictions: await readBestPredictions(parts, id),
      postprocessing: await readPostprocessing(parts, id),
      relatives: {
        origin: origin === undefined ? [] : (await list.page({ ids: [origin], limit: 1 })).rows,
        forks: (await list.page({ origin: view.record.id, limit: 100 })).rows,
      },
    };
  } finally {
    list.close();
    parts.feed.close();
    await live.close();
  }
}

async function readAllSeries(parts: HubParts, id: string, metrics: number): Promise<MetricPoints[]> {
  const share = Math.floor(pointBudget / Math.max(1, metrics));
  const maximumPoints = Math.min(maximumPointsPerMetric, Math.max(minimumPointsPerMetric, share));
  return (await readSeries(parts, id, { names: [], maximumPoints, fromStep: null, toStep: null })).series;
}

/** The predictions of the best evaluation on each split, or the last ones where none has that name. */
async function readBestPredictions(parts: HubParts, id: string): Promise<ReportData['predictions']> {
  const names = await listPredictions(parts, id);
  const chosen = (['validation', 'test'] as const).flatMap((split) => {
    const kept = names.filter((one) => one.split === split);
    return kept.find(({ name }) => name === 'best' || name === 'ensemble-best') ?? kept.at(-1) ?? [];
  });
  const found: ReportData['predictions'] = [];
  let bytes = 0;
  for (const one of chosen) {
    // One at a time: the sizes decide which are kept.
    const data = await readPredictions(parts, id, one);
    bytes += data === null ? 0 : data.outputs.reduce((sum, { byteLength }) => sum + byteLength, 0);
    if (data !== null && bytes <= maximumPredictionBytes) found.push({ ...one, data });
  }
  return found;
}
