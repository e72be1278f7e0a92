import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readMetricsIndex, writeMetricsIndex } from '../../../src-main/store/index/metrics-index.ts';
import { RunColumns } from '../../../src-main/store/metrics/metric-column.ts';
import { MetricsFile } from '../../../src-main/store/metrics/metrics-file.ts';
import { MetricsTail } from '../../../src-main/store/metrics/metrics-tail.ts';
import { withMetricRows } from '../../../src-main/store/metrics/metric-rows.ts';

const silent = { point: () => undefined, reset: () => undefined, damaged: () => undefined };

/** All ways in which the metrics of a folder are read. Throws the first error, after the last way was tried. */
export async function metricsOf(folder: string): Promise<void> {
  const index = await readMetricsIndex(folder);
  const tail = new MetricsTail(folder);
  if (index !== null) tail.restore(index.tail);
  const ways = [
    () => followed(tail),
    () => allRows(folder),
    () => allRows(folder, () => undefined),
    () => MetricsFile.open(join(folder, 'metrics.csv'), { step: 1, rows: Infinity }),
  ];
  const errors: unknown[] = [];
  for (const way of ways) await way().catch((error: unknown) => errors.push(error));
  for (const copy of ['metrics.attempt-1.csv']) await rm(join(folder, copy), { force: true });
  if (index !== null) await writeFile(join(folder, 'metrics.csv'), 'epoch,step,train/loss\n0,1,0.5\n0,2,0.25\n');
  if (errors.length > 0) throw errors[0];
}

/** Reads the file as exports do. */
async function allRows(folder: string, onDamage?: (damage: Error) => void): Promise<void> {
  const read = async (rows: AsyncIterable<unknown[]>): Promise<void> => {
    for await (const portion of rows) if (!Array.isArray(portion)) throw new TypeError('No portion of rows.');
  };
  await withMetricRows(folder, read, onDamage);
}

async function followed(tail: MetricsTail): Promise<void> {
  await tail.read(silent);
  await tail.readBetween(['train/loss'], 0, 10);
}

/** The index that Tutti writes for a file of metrics. */
export async function writeIndexOf(metrics: string): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-fuzz-'));
  await writeFile(join(folder, 'metrics.csv'), metrics);
  const [tail, columns] = [new MetricsTail(folder), new RunColumns()];
  await tail.read({ ...silent, point: (metric, epoch, step, value) => columns.set(metric, epoch, step, value) });
  if (tail.state === null) throw new Error('The metrics have no rows.');
  await writeMetricsIndex(folder, tail.state, columns);
  const bytes = await readFile(join(folder, 'metrics.index'));
  await rm(folder, { recursive: true });
  return bytes;
}
