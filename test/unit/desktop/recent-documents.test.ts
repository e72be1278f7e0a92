import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  readRecentDocuments,
  shownDocument,
  withRecent,
  writeRecentDocuments,
} from '../../../src-main/desktop/menu.ts';
import { temporaryFolder } from '../store/fixtures.ts';

it('knows which run or file of data a page shows', () => {
  expect(shownDocument('/runs/run-1')).toEqual({ run: 'run-1' });
  expect(shownDocument('/runs/run-1/ensemble?set=final')).toEqual({ run: 'run-1' });
  expect(shownDocument('/runs/run-1~0a1b2c?x=1')).toEqual({ run: 'run-1~0a1b2c' });
  expect(shownDocument('/create?path=%2Fhome%2Fme%2FR+%26+D.csv')).toEqual({ data: '/home/me/R & D.csv' });
  for (const other of ['/runs', '/runs/', '/runs?tag=a', '/studies/run-1', '/create', '/create?x=1', '']) {
    expect([other, shownDocument(other)]).toEqual([other, null]);
  }
});

it('has the last ten, each once, the last shown first', () => {
  const run = (number: number) => ({ path: `/runs/${number}`, name: `run ${number}` });
  const ten = Array.from({ length: 12 }, (_, index) => run(index)).reduce(withRecent, []);
  expect(ten.map(({ path }) => path)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2].map((number) => `/runs/${number}`));
  const renamed = { path: '/runs/4', name: 'better' };
  expect(withRecent(ten, renamed)).toEqual([renamed, ...ten.filter(({ path }) => path !== '/runs/4')]);
});

it('is kept, and empty where it is missing or damaged', async () => {
  const path = join(await temporaryFolder(), 'recent-documents.json');
  expect(await readRecentDocuments(path)).toEqual([]);
  const runs = [{ path: '/runs/1', name: 'first' }];
  await writeRecentDocuments(path, runs);
  expect(await readRecentDocuments(path)).toEqual(runs);
  await writeFile(path, (await readFile(path, 'utf8')).slice(0, -5));
  expect(await readRecentDocuments(path)).toEqual([]);
  await writeFile(path, '[{"path":7}]');
  expect(await readRecentDocuments(path)).toEqual([]);
});
