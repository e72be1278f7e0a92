import packageJson from '../../package.json' with { type: 'json' };
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileExclusively, writeFileAtomic } from '../../core/node/atomic-file.ts';
import type { Hub } from '../hub/hub.ts';
import { encodeRpc } from '../../core/protocol/pages/rpc.ts';
import { type ReportData, reportDataId } from '../../core/protocol/pages/run-data.ts';
import type { MetricPoints } from '../../core/protocol/wire/points.ts';
import { LiveRuns } from '../hub/live-runs.ts';
import { type HubParts, RunFeed } from '../hub/run-feed.ts';
import { readPostprocessing } from '../rpc/runs/postprocessing.ts';
import { listPredictions, readPredictions } from '../rpc/runs/predictions.ts';
import { RunList } from '../rpc/runs/run-list.ts';
import { viewRun } from '../rpc/runs/run-views.ts';
import { readSeries } from '../rpc/runs/series.ts';
import { runIdSchema } from '../../core/protocol/run/record.ts';
import { out } from '../built/build.ts';
import type { WrittenExport } from '../rpc/runs/exports.ts';
import { homePaths } from '../store/home.ts';

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

interface ReportRequest {
  /** The run's id. */
  id: string;
  /** The file to write. */
  to: string;
  overwrite: boolean;
  /** The folder of the built page of reports. */
  pageFolder: string;
  version: string;
}

/**
 * Writes a run as one HTML file with everything in it.
 *
 * @returns its size in bytes
 * @throws Error if the file exists and must not be replaced
 */
export async function writeReport(hub: Hub, request: ReportRequest): Promise<number> {
  const page = await readReportPage(request.pageFolder);
  const html = reportHtml(page, await gatherReport(hub, request.id, request.version));
  if (request.overwrite) await writeFileAtomic(request.to, html);
  else if (!(await createFileExclusively(request.to, html))) {
    throw new Error(`${request.to} exists. Choose another --output, or give --overwrite to replace it.`);
  }
  return Buffer.byteLength(html);
}

async function readReportPage(folder: string): Promise<ReportPage> {
  const names = await readdir(folder);
  const read = async (ending: string): Promise<string> => {
    const found = names.filter((name) => name.endsWith(ending));
    if (found.length === 1) return readFile(join(folder, found[0]), 'utf8');
    throw new Error(
      `${folder} has ${found.length} files "*${ending}", but a report needs exactly one: run \`npm run build\`.`,
    );
  };
  return { script: await read('.js'), style: await read('.css') };
}

/** The built page of reports: one script and one style sheet. */
interface ReportPage {
  script: string;
  style: string;
}

/**
 * One HTML file that opens without a server and loads nothing. Its security policy allows this script and no
 * connection. What a run says (its name, its events, its metrics) is in the data alone, which holds no character that
 * HTML knows.
 */
export function reportHtml(page: ReportPage, data: ReportData): string {
  // Within a script element only this sequence ends it, and the HTML comment changes how it is read.
  const script = page.script.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
  const style = page.style.replaceAll('</style', '<\\/style');
  const hash = createHash('sha256').update(script).digest('base64');
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    "style-src 'unsafe-inline'",
    'img-src data: blob:',
    'font-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const bytes = gzipSync(encodeRpc(data), { level: 9 }).toString('base64');
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <link rel="icon" href="data:," />
    <title>Report - Tutti</title>
    <style>${style}</style>
  </head>
  <body>
    <div id="app"><noscript>This report draws its figures with JavaScript, which this browser does not run.</noscript></div>
    <script type="text/plain" id="${reportDataId}">${bytes}</script>
    <script>${script}</script>
  </body>
</html>
`;
}

/** Writes a run as one HTML file in Tutti's home, for a page. Replaces an earlier report. */
export async function exportReport({ hub }: HubParts, run: string): Promise<WrittenExport> {
  // The index may be older than the rule for ids.
  const id = runIdSchema.parse((await hub.find(run)).id);
  const fileName = `${id}.html`;
  const to = join(homePaths().exports, fileName);
  // The front end built the page of reports with its own pages.
  const page = { pageFolder: join(out, 'report'), version: packageJson.version };
  const bytes = await writeReport(hub, { id, to, overwrite: true, ...page });
  return { path: to, fileName, bytes, warnings: [] };
}
