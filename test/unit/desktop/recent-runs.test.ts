import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readRecentRuns, shownRun, withRecent, writeRecentRuns } from '../../../src-main/desktop/menu.ts';
import { temporaryFolder } from '../store/fixtures.ts';

it('knows which run a page shows', () => {
  expect(shownRun('/runs/run-1')).toBe('run-1');
  expect(shownRun('/runs/run-1/ensemble?set=final')).toBe('run-1');
  expect(shownRun('/runs/run-1~0a1b2c?x=1')).toBe('run-1~0a1b2c');
  expect(['/runs', '/runs/', '/runs?tag=a', '/studies/run-1', ''].map(shownRun)).toEqual([
    null,
    null,
    null,
    null,
    null,
  ]);
});

it('has the last ten runs, each once, the last shown first', () => {
  const run = (number: number) => ({ folder: `/runs/${number}`, name: `run ${number}` });
  const ten = Array.from({ length: 12 }, (_, index) => run(index)).reduce(withRecent, []);
  expect(ten.map(({ folder }) => folder)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2].map((number) => `/runs/${number}`));
  const renamed = { folder: '/runs/4', name: 'better' };
  expect(withRecent(ten, renamed)).toEqual([renamed, ...ten.filter(({ folder }) => folder !== '/runs/4')]);
});

it('is kept, and empty where it is missing or damaged', async () => {
  const path = join(await temporaryFolder(), 'recent-runs.json');
  expect(await readRecentRuns(path)).toEqual([]);
  const runs = [{ folder: '/runs/1', name: 'first' }];
  await writeRecentRuns(path, runs);
  expect(await readRecentRuns(path)).toEqual(runs);
  await writeFile(path, (await readFile(path, 'utf8')).slice(0, -5));
  expect(await readRecentRuns(path)).toEqual([]);
  await writeFile(path, '[{"folder":7}]');
  expect(await readRecentRuns(path)).toEqual([]);
});
