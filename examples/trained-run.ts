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
  const { seconds } = await train(project, folder, options);
  return { seconds, test: await readTest(folder), series: await readMetrics(folder) };
}

async function train(project: string, folder: string, options: readonly string[]): Promise<{ seconds: number }> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [tutti, 'train', project, '--out', folder, ...options], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`The training ended with exit code ${code}; its folder is ${folder}.`);
  return { seconds: (performance.now() - startedMs) / 1000 };
}

/**
 * Trains a project with several seeds into a new folder, `tutti train --repeat`; one seed is an ordinary run. The
 * seconds of each are their mean.
 * @throws Error unless all runs finish
 */
export async function trainSeeds(
  project: string,
  folder: string,
  options: readonly string[],
  repeat: number,
): Promise<TrainedRun[]> {
  if (repeat === 1) return [await trainRun(project, folder, options)];
  const { seconds } = await train(project, folder, [...options, '--repeat', String(repeat)]);
  const folders = seedFolders(folder, repeat);
  return Promise.all(
    folders.map(async (own) => ({
      seconds: seconds / repeat,
      test: await readTest(own),
      series: await readMetrics(own),
    })),
  );
}

/** The folders of runs that were trained with several seeds. */
export function seedFolders(folder: string, repeat: number): string[] {
  return repeat === 1 ? [folder] : Array.from({ length: repeat }, (_, index) => join(folder, `seed-${index}`));
}

/** `0.354 ± 0.003`: the mean with its standard error s / √n (n − 1 in s); a single value has no error. */
export function meanWithError(values: readonly number[], digits = 3): string {
  const center = mean(values);
  if (values.length < 2) return center.toFixed(digits);
  const squares = values.reduce((sum, value) => sum + (value - center) ** 2, 0);
  const error = Math.sqrt(squares / (values.length - 1) / values.length);
  return `${center.toFixed(digits)} ± ${error.toFixed(digits)}`;
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
