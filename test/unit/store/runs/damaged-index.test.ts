import { appendFile, copyFile, mkdir, open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { recoverRuns } from '../../../../src-main/store/index/recovery.ts';
import { RunIndex } from '../../../../src-main/store/index/run-index.ts';
import { createRunFolder } from '../../../../src-main/store/runs/run-folder.ts';
import { changeRunNotes } from '../../../../src-main/store/runs/run-notes.ts';
import { temporaryFolder } from '../fixtures.ts';
import { runRecord } from '../records.ts';

const pageBytes = 4096;
const runCount = 12;

/** A home with runs in it and outside of it, notes on each, and an index of several pages. */
async function homeWithRuns(): Promise<string> {
  const home = await temporaryFolder();
  const index = await RunIndex.open(home);
  for (let number = 0; number < runCount; number += 1) {
    const folder = number % 3 === 0 ? join(home, 'elsewhere', `${number}`) : join(home, 'runs', `${number}`);
    const record = runRecord({ id: `run-${number}`, name: `name ${number}`, status: 'finished' });
    await createRunFolder(folder, record);
    index.upsert(record, folder);
    index.annotate(folder, await changeRunNotes(folder, { note: `note ${number}`, tags: ['kept'] }));
  }
  index.close();
  return home;
}

async function contents(home: string): Promise<unknown[]> {
  const index = await RunIndex.open(home);
  await recoverRuns(index);
  const runs = index.list({ sort: { by: 'name', isDescending: false } });
  index.close();
  return runs;
}

it('an index cut off at any page, or with any page in zeros, is rebuilt without a word lost', async () => {
  const home = await homeWithRuns();
  const path = join(home, 'index.sqlite');
  const expected = await contents(home);
  expect(expected).toHaveLength(runCount);
  const whole = join(home, 'whole.sqlite');
  await copyFile(path, whole);
  const pages = Math.ceil((await stat(whole)).size / pageBytes);
  expect(pages).toBeGreaterThan(4);
  for (let page = 0; page < pages; page += 1) {
    for (const damage of [cutOff, cutWithin, fillWithZeros]) {
      for (const ending of ['-wal', '-shm']) await rm(path + ending, { force: true });
      await copyFile(whole, path);
      await damage(path, page);
      expect(await contents(home), `${damage.name} at page ${page}`).toEqual(expected);
    }
  }
});

it('a damaged journal beside the index loses nothing', async () => {
  const home = await homeWithRuns();
  const expected = await contents(home);
  for (const ending of ['-wal', '-shm']) {
    await writeFile(join(home, `index.sqlite${ending}`), Buffer.alloc(3 * pageBytes, 0xff));
    expect(await contents(home), ending).toEqual(expected);
  }
});

it('a line of external-runs.txt that was cut short does not swallow the next one', async () => {
  const home = await homeWithRuns();
  await appendFile(join(home, 'external-runs.txt'), '/cut/sho');
  const index = await RunIndex.open(home);
  const folder = join(home, 'elsewhere', 'next');
  await mkdir(folder, { recursive: true });
  const record = runRecord({ id: 'next', name: 'next', status: 'finished' });
  await createRunFolder(folder, record);
  index.upsert(record, folder);
  index.close();
  expect((await readFile(join(home, 'external-runs.txt'), 'utf8')).split('\n').slice(-3)).toEqual([
    '/cut/sho',
    folder,
    '',
  ]);
  await rm(join(home, 'index.sqlite'));
  expect(await contents(home)).toHaveLength(runCount + 1);
});

function cutOff(path: string, page: number): Promise<void> {
  return truncate(path, page * pageBytes);
}

function cutWithin(path: string, page: number): Promise<void> {
  return truncate(path, page * pageBytes + 100);
}

async function fillWithZeros(path: string, page: number): Promise<void> {
  const file = await open(path, 'r+');
  await file.write(Buffer.alloc(pageBytes), 0, pageBytes, page * pageBytes);
  await file.close();
}
