import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** Starts `tutti train` for comparisons and reads the results from the run's folder (docs/formats.md). */

const tutti = resolve(import.meta.dirname, '../src-main/tutti.mjs');

export interface Series {
  steps: number[];
  epochs: number[];
  values: number[];
}

export interface TrainedRun {
  seconds: number;
  /** Values of a metric in order; empty if there are none. */
  series(metric: string): Series;
  /** Metrics of the last weights on the test split; the members' by rank. */
  test: { ensemble: Record<string, number>; members: Record<string, number[]> };
}

/** Trains a project into a new folder. @throws Error if the command fails */
export async function trainRun(project: string, folder: string, options: readonly string[]): Promise<TrainedRun> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [tutti, 'train', project, '--out', folder, ...options], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`The run ended with exit code ${code}; its folder is ${folder}.`);
  const seconds = (performance.now() - startedMs) / 1000;
  return { seconds, test: await readTest(folder), series: await readMetrics(folder) };
}

async function readTest(folder: string): Promise<TrainedRun['test']> {
  const record = JSON.parse(await readFile(join(folder, 'run.json'), 'utf8')) as {
    summary: { evaluatedSets: ({ set: string } & TrainedRun['test'])[] };
  };
  const last = record.summary.evaluatedSets.find(({ set }) => set === 'final');
  if (last === undefined) throw new Error(`The run in ${folder} evaluated no last weights: keep checkpoints.final on.`);
  return last;
}

async function readMetrics(folder: string): Promise<TrainedRun['series']> {
  const [header, ...lines] = (await readFile(join(folder, 'metrics.csv'), 'utf8')).trimEnd().split('\n');
  const names = header.split(',');
  const rows = lines.map((row) => row.split(','));
  return (metric) => {
    const column = names.indexOf(metric);
    const filled = rows.filter((row) => column >= 0 && row[column] !== '');
    const numbers = (index: number) => filled.map((row) => Number(row[index]));
    return { epochs: numbers(names.indexOf('epoch')), steps: numbers(names.indexOf('step')), values: numbers(column) };
  };
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
