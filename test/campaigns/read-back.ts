import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { exportRun } from '../../src-main/export/export-run.ts';
import { readCheckpointRecords } from '../../src-main/store/runs/checkpoint-records.ts';
import { findResumePoint } from '../../src-main/store/runs/resume-point.ts';
import { readEvents, readRunRecord } from '../../src-main/store/runs/run-folder.ts';
import { readCheckpoint } from '../../workers/checkpoints/checkpoint-store.ts';
import { mergedMetrics } from '../integration/harness.ts';
import { type MetricTable, readMetrics } from '../integration/metric-table.ts';

/**
 * Reads everything back that a finished run has written, and compares it with a run of the same configuration that
 * nobody disturbed.
 * @returns what is wrong; empty if nothing was lost
 */
export async function readFinished(folder: string, undisturbed: string): Promise<string[]> {
  const record = await readRunRecord(folder);
  const wrong: string[] = [];
  if (record.status !== 'finished') wrong.push(`status ${record.status}: ${record.error?.message ?? 'no error'}`);
  await readEvents(folder);
  if (!isDeepStrictEqual(await mergedMetrics(folder), await mergedMetrics(undisturbed))) wrong.push('metrics differ');
  wrong.push(...contradictions(folder));
  const [hashes, expected] = [await checkpointHashes(folder), await checkpointHashes(undisturbed)];
  for (const name of new Set([...hashes.keys(), ...expected.keys()])) {
    if (hashes.get(name) === expected.get(name)) continue;
    wrong.push(
      `checkpoint ${name} ${hashes.has(name) ? (expected.has(name) ? 'differs' : 'is too many') : 'is missing'}`,
    );
  }
  const remains = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.tmp'));
  wrong.push(...remains.map((path) => `${path} of a killed process is left`));
  const to = join(folder, '..', `${record.id}-export`);
  await exportRun(folder, { to, zip: false });
  if (!existsSync(join(to, 'metrics.csv'))) wrong.push('the export has no metrics');
  await rm(to, { recursive: true, force: true });
  return wrong;
}

/**
 * Reads what a killed hub has left: nothing in it may be damaged, and what was measured so far must be the beginning of
 * what an undisturbed run measures.
 */
export async function readInterrupted(folder: string, undisturbed: string): Promise<string[]> {
  if (!existsSync(join(folder, 'run.json'))) return [];
  const record = await readRunRecord(folder);
  await readEvents(folder);
  await checkpointHashes(folder);
  const ranks = record.plan.map(({ rank }) => rank);
  const point = await findResumePoint(folder, ranks);
  const damages = (point?.damages ?? []).map((damage) => `state: ${damage}`);
  return [...damages, ...(await unexpectedCells(folder, undisturbed)), ...contradictions(folder)];
}

/** By `rank name`. Reads the weights whole, which checks their hash. */
async function checkpointHashes(folder: string): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  for (const { rank, name } of await readCheckpointRecords(folder)) {
    const { record } = await readCheckpoint(folder, rank, name);
    hashes.set(`${rank} ${name}`, record.sha256);
  }
  return hashes;
}

/** Metrics whose values are not the first values that the undisturbed run has of them. */
async function unexpectedCells(folder: string, undisturbed: string): Promise<string[]> {
  const [table, expected] = [await readMetrics(folder), await readMetrics(undisturbed)];
  return table.columns
    .filter((name) => !name.endsWith('samples_per_second'))
    .filter((name) => {
      const cells = cellsOf(table, name);
      return !isDeepStrictEqual(cells, cellsOf(expected, name).slice(0, cells.length));
    })
    .map((name) => `${name} has a gap or another value`);
}

/** [epoch, step, value] of each value of a metric, in order. */
function cellsOf({ epoch, step, values, present }: MetricTable, name: string): number[][] {
  const [column, has] = [values.get(name) ?? [], present.get(name)];
  return [...column].flatMap((value, row) => (has?.[row] === 1 ? [[epoch[row], step[row], value]] : []));
}

/**
 * Metrics with two different values at one epoch and step. A rank that saved its state without its hub reports its
 * newest points again, which may be written twice, but with the same values.
 */
function contradictions(folder: string): string[] {
  const path = join(folder, 'metrics.csv');
  if (!existsSync(path)) return [];
  const [header, ...rows] = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  const names = header?.split(',') ?? [];
  const seen = new Map<string, string>();
  const found = new Set<string>();
  for (const row of rows) {
    const cells = row.split(',');
    for (const [column, cell] of cells.entries()) {
      if (column < 2 || cell === '' || names[column].endsWith('samples_per_second')) continue;
      const key = `${names[column]} at epoch ${cells[0]}, step ${cells[1]}`;
      if ((seen.get(key) ?? cell) !== cell) found.add(key);
      seen.set(key, cell);
    }
  }
  return [...found].slice(0, 3).map((key) => `two values in metrics.csv: ${key}`);
}
