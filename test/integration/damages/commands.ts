import { hash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import type { Hub } from '../../../src-main/hub/hub.ts';
import { LiveRuns } from '../../../src-main/hub/live-runs.ts';
import { RunFeed } from '../../../src-main/hub/run-feed.ts';
import { gatherReport } from '../../../src-main/report/write-report.ts';
import { listCheckpoints } from '../../../src-main/rpc/runs/checkpoints.ts';
import { readLogs } from '../../../src-main/rpc/runs/logs.ts';
import { readPostprocessing } from '../../../src-main/rpc/runs/postprocessing.ts';
import { listPredictions, readPredictions } from '../../../src-main/rpc/runs/predictions.ts';
import { viewRun } from '../../../src-main/rpc/runs/run-views.ts';
import { readSeries } from '../../../src-main/rpc/runs/series.ts';
import { readSampleForm } from '../../../src-main/predictions/sample-form.ts';
import { serveEnsemble } from '../../../src-main/serving/serve-ensemble.ts';
import { readEvents } from '../../../src-main/store/runs/run-folder.ts';
import { withHub } from '../../../src-main/cli/open-hub.ts';
import { messageOf } from '../../../core/text/errors.ts';
import { mergedMetrics, projectFolder } from '../harness.ts';
import { runCommand } from './run-command.ts';

/** The damaged run. Beside it lies an untouched one. */
export interface Subject {
  folder: string;
  /** Where a resume ends. */
  maxEpochs: number;
  /** An empty folder for what commands write. */
  out: string;
}

/** What a user has after a command. */
export interface Told {
  code: number;
  /** What it printed or answered. */
  said: string;
  /** A summary of what it wrote. */
  wrote: string;
}
type Command = (subject: Subject) => Promise<Told>;

const input = join(projectFolder('passengers'), 'passengers.csv');

export const commands: Record<string, Command> = {
  runs: () => run(['runs', '--json', '--all']),
  show: ({ folder }) => run(['show', folder]),
  compare: ({ folder }) => run(['compare', 'other', folder]),
  export: ({ folder, out }) =>
    run(['export', folder, '--to', join(out, 'exported')], () => contentsOf(join(out, 'exported'))),
  report: ({ folder }) => answer(async (hub) => gatherReport(hub, (await hub.find(folder)).id, '0')),
  dashboard: ({ folder }) => answer((hub) => readPages(hub, folder)),
  predict: ({ folder, out }) => {
    const output = join(out, 'predictions.csv');
    return run(['predict', folder, '--input', input, '--output', output], () => readFileSync(output, 'utf8'));
  },
  serve: ({ folder }) => serveOnce(folder),
  resume: async ({ folder, maxEpochs }) => {
    const args = ['resume', folder, '--max-epochs', String(maxEpochs), '--quiet'];
    const told = await run(args, () => resultsOf(folder));
    return { ...told, said: `${told.said}\n${await damagesToldBy(folder)}` };
  },
};

async function run(args: string[], wrote: () => string | Promise<string> = () => ''): Promise<Told> {
  const { code, output } = await runCommand(args);
  return { code, said: output, wrote: code === 0 ? await wrote() : '' };
}

/** Commands that start workers. */
export const slowCommands = ['predict', 'serve', 'resume'];

/** What a page or a report gets, as text. */
async function answer(ask: (hub: Hub) => Promise<unknown>): Promise<Told> {
  try {
    return await withHub(async (hub) => ({
      code: 0,
      said: `${hub.notices.join('\n')}\n${spell(await ask(hub))}`,
      wrote: '',
    }));
  } catch (error) {
    return { code: 1, said: messageOf(error), wrote: '' };
  }
}

function spell(value: unknown): string {
  return inspect(value, {
    depth: 20,
    maxArrayLength: 5000,
    maxStringLength: 100_000,
    breakLength: 120,
    compact: false,
  });
}

/** What the pages of a run ask for. A question that fails does not keep the others from being answered. */
async function readPages(hub: Hub, folder: string): Promise<unknown> {
  const raised: string[] = [];
  const live = new LiveRuns(hub, (error) => raised.push(messageOf(error)));
  const parts = { hub, live, feed: new RunFeed(hub, live, (error) => raised.push(messageOf(error))) };
  const { id } = await hub.find(folder);
  const request = { names: [], maximumPoints: 1000, fromStep: null, toStep: null };
  try {
    const asked = {
      list: Promise.resolve(hub.index.page({ limit: 10 })),
      run: viewRun(parts, id),
      series: readSeries(parts, id, request),
      loads: parts.feed.open(id).then(({ deviceLoads }) => deviceLoads.map(({ device }) => device)),
      logs: readLogs(parts, id, { ranks: [], limit: 10 }),
      checkpoints: listCheckpoints(parts, id),
      forkPoints: hub.forkPoints(id),
      postprocessing: readPostprocessing(parts, id),
      predictions: listPredictions(parts, id).then((names) =>
        Promise.all(names.map((one) => readPredictions(parts, id, one).catch(messageOf))),
      ),
      sampleForm: readSampleForm(folder),
    };
    const answers = await Promise.allSettled(Object.values(asked));
    const told = answers.map((one) => (one.status === 'fulfilled' ? one.value : `refused: ${messageOf(one.reason)}`));
    return [...told, raised];
  } finally {
    parts.feed.close();
    await live.close();
  }
}

async function serveOnce(folder: string): Promise<Told> {
  let output = '';
  const limits = { maxBatch: 64, maxDelayMs: 0, maxQueue: 64, maxSamples: 64, maxBodyBytes: 2 ** 20 };
  const options = { folder, host: '127.0.0.1', port: 0, inputsTimeoutMs: 20_000, ...limits };
  try {
    const server = await serveEnsemble({ ...options, onNotice: (text) => void (output += `${text}\n`) });
    const response = await fetch(server.url);
    output += await response.text();
    await server.close();
    return { code: 0, said: output, wrote: '' };
  } catch (error) {
    return { code: 1, said: output + messageOf(error), wrote: '' };
  }
}

/** Paths and hashes of what lies below a folder. */
function contentsOf(folder: string): string {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const lines = entries.map((entry) => {
    const path = join(entry.parentPath, entry.name);
    return `${path.slice(folder.length)} ${hash('sha256', readFileSync(path), 'hex')}`;
  });
  rmSync(folder, { recursive: true });
  return lines.sort().join('\n');
}

/** What a resumed run has in the end: its events beside its results. */
async function resultsOf(folder: string): Promise<string> {
  const { summary } = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')) as {
    summary: { evaluatedSets: object };
  };
  // A damaged row stays in the file.
  return spell([summary.evaluatedSets, await mergedMetrics(folder).catch(messageOf)]);
}

/** What a terminal prints while the run trains, unless it is to be quiet. */
async function damagesToldBy(folder: string): Promise<string> {
  const events = await readEvents(folder, () => undefined).catch(() => []);
  const kinds = ['file-damaged', 'metrics-damaged', 'metrics-lost', 'state-skipped', 'set-incomplete'];
  return events.flatMap(({ kind, message }) => (kinds.includes(kind) ? message : [])).join('\n');
}
