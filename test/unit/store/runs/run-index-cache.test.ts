import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../fixtures.ts';
import { addRun, ids, openIndex, threeRuns } from './run-index-fixtures.ts';

describe('RunIndex as a cache', () => {
  const corruptions: [string, (path: string) => Promise<void>][] = [
    ['missing', (path) => rm(path)],
    ['no database', (path) => writeFile(path, 'garbage '.repeat(1_000))],
    ['empty', (path) => writeFile(path, '')],
    ['damaged inside', damagePages],
    ['of another version', async (path) => setVersion(path, 999)],
  ];

  it.each(corruptions)('is rebuilt from the folders when it is %s', async (_name, corrupt) => {
    const { home, index } = await threeRuns();
    await addRun(index, join(await temporaryFolder(), 'external'), { id: 'x9', createdAt: '2025-01-01T00:00:00Z' });
    const before = index.list();
    index.close();
    await corrupt(join(home, 'index.sqlite'));
    const reopened = await openIndex(home);
    expect(reopened.list()).toEqual(before);
    expect(before).toHaveLength(4);
  });

  it('is in memory, with the runs of the folders, where its file cannot be written', async () => {
    const home = await temporaryFolder();
    const first = await openIndex(home);
    await addRun(first, join(home, 'runs', 'a'), { id: 'a1' });
    first.close();
    await rm(join(home, 'index.sqlite'));
    await mkdir(join(home, 'index.sqlite'));
    const index = await openIndex(home);
    expect(index.list().map(({ id }) => id)).toEqual(['a1']);
    expect(index.notice).toContain('unable to open database file');
    expect(index.notice).toContain('Until then, the list is made from the run folders each time.');
  });

  it('of a copied home leads to the runs of the copy alone, before it looks for any', async () => {
    const { home, index } = await threeRuns();
    index.close();
    const copy = join(await temporaryFolder(), 'copy');
    await cp(home, copy, { recursive: true });
    const second = await openIndex(copy);
    const folders = second.list().map(({ folder }) => folder);
    expect(folders.toSorted()).toEqual(['a', 'b', 'c'].map((name) => join(copy, 'runs', name)));
    expect((await second.find('a1')).folder).toBe(join(copy, 'runs', 'a'));
  });

  it('is kept where the home is reached by a link', async () => {
    const { home, index } = await threeRuns();
    index.close();
    const link = join(await temporaryFolder(), 'link');
    await symlink(home, link);
    const reopened = await openIndex(link);
    expect(reopened.list().map(({ folder }) => folder)).toContain(join(home, 'runs', 'a'));
  });

  it('names unreadable folders and lists the others', async () => {
    const { index, runs } = await threeRuns();
    await writeFile(join(runs, 'b', 'run.json'), '{');
    const problems = await index.rebuild();
    expect(problems.map((problem) => problem.folder)).toEqual([join(runs, 'b')]);
    expect(problems[0].message).toContain('is damaged');
    expect(ids(index.list())).toEqual(['b3', 'a1']);
  });

  it.each(['{', '{"tags":[1]}', '[]', ''])(
    'lists a run without its notes where these are damaged (%j), and says so',
    async (text) => {
      const { index, runs } = await threeRuns();
      await writeFile(join(runs, 'b', 'notes.json'), text);
      const problems = await index.rebuild();
      expect(problems).toEqual([
        { folder: join(runs, 'b'), message: expect.stringContaining('notes.json is damaged') },
      ]);
      expect(index.list()).toHaveLength(3);
      expect(await index.refresh()).toEqual([]);
    },
  );

  it('follows folders that appear and disappear', async () => {
    const { home, index, runs } = await threeRuns();
    await rename(join(runs, 'a'), join(runs, 'moved'));
    await mkdir(join(runs, 'not a run'));
    expect(await index.refresh()).toEqual([]);
    expect(index.list({ search: 'a1' }).map((run) => run.folder)).toEqual([join(home, 'runs', 'moved')]);
    expect(index.list()).toHaveLength(3);
  });

  it('serves several processes that open a new index at the same time', async () => {
    const home = await temporaryFolder();
    const script = join(import.meta.dirname, 'open-index.ts');
    const opened = await Promise.all(
      Array.from({ length: 4 }, (_, index) => promisify(execFile)(process.execPath, [script, home, `run-${index}`])),
    );
    expect(opened.map(({ stderr }) => stderr)).toEqual(['', '', '', '']);
    expect(ids((await openIndex(home)).list()).sort()).toEqual(['run-0', 'run-1', 'run-2', 'run-3']);
  });
});

/** Overwrites all pages but the first. Opening reads only that one. */
async function damagePages(path: string): Promise<void> {
  const content = await readFile(path);
  await writeFile(path, content.fill(0xff, 4_096));
}

function setVersion(path: string, version: number): void {
  const database = new DatabaseSync(path);
  database.exec(`ALTER TABLE runs RENAME COLUMN task TO kind; PRAGMA user_version = ${version}`);
  database.close();
}

describe('a copy', () => {
  it('of a home opens with its own runs, even while the original exists', async () => {
    const { home, index } = await threeRuns();
    index.close();
    const copy = join(await temporaryFolder(), 'copy');
    await cp(home, copy, { recursive: true });
    const copied = await openIndex(copy);
    expect(await copied.refresh()).toEqual([]);
    expect(copied.list().map(({ folder }) => folder)).toEqual(['b', 'c', 'a'].map((name) => join(copy, 'runs', name)));
    expect((await copied.find('a1')).folder).toBe(join(copy, 'runs', 'a'));
  });

  it('of a run folder is listed beside the original, and each is found by its id', async () => {
    const home = await temporaryFolder();
    const index = await openIndex(home);
    const folder = await addRun(index, join(home, 'runs', 'z1'), { id: 'z1' });
    const copy = join(home, 'runs', 'a copy');
    await cp(folder, copy, { recursive: true });
    await index.refresh();
    const id = index.list().find((run) => run.folder === copy)?.id ?? '';
    expect(id).toMatch(/^z1~[0-9a-f]{6}$/);
    expect((await index.find('z1')).folder).toBe(folder);
    expect((await index.find(id)).folder).toBe(copy);
    expect((await index.find(copy)).id).toBe(id);
    await index.rebuild();
    expect(new Map(index.list().map((run) => [run.folder, run.id]))).toEqual(
      new Map([
        [folder, 'z1'],
        [copy, id],
      ]),
    );
    await rm(folder, { recursive: true });
    await index.refresh();
    expect((await index.find('z1')).folder).toBe(copy);
  });

  it('of a run that moved away is found at its new place', async () => {
    const home = await temporaryFolder();
    const index = await openIndex(home);
    const folder = await addRun(index, join(home, 'runs', 'z1'), { id: 'z1' });
    const moved = join(await temporaryFolder(), 'elsewhere');
    await rename(folder, moved);
    await index.refresh();
    expect((await index.find(moved)).id).toBe('z1');
    expect((await index.find('z1')).folder).toBe(moved);
  });
});
