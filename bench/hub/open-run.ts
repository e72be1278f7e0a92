import { encodeRpc } from '../../core/protocol/pages/rpc.ts';
import { Hub } from '../../src-main/hub/hub.ts';
import { readSeries } from '../../src-main/rpc/runs/series.ts';
import { viewRun } from '../../src-main/rpc/runs/run-views.ts';
import { LiveRuns } from '../../src-main/hub/live-runs.ts';
import { RunFeed } from '../../src-main/hub/run-feed.ts';

/**
 * Opens a run like a page, in a hub that has just started: `open-run.ts <id>` prints the milliseconds and the number of
 * points sent.
 */

const [id] = process.argv.slice(2);
const onError = (error: unknown): never => {
  throw error;
};
const hub = await Hub.open();
const live = new LiveRuns(hub, onError);
const parts = { hub, live, feed: new RunFeed(hub, live, onError) };

const startedMs = performance.now();
const view = encodeRpc(await viewRun(parts, id));
const data = await readSeries(parts, id, { names: [], maximumPoints: 150_000, fromStep: null, toStep: null });
encodeRpc(data);
const ms = performance.now() - startedMs;
if (view.length === 0) throw new Error('The run has no view.');
console.log(JSON.stringify({ ms, points: data.series.reduce((sum, { step }) => sum + step.length, 0) }));
parts.feed.close();
hub.close();
