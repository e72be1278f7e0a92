import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RunRecord } from '../../../../core/protocol/run/record.ts';
import { createRunFolder } from '../../../../src-main/store/runs/run-folder.ts';
import { RunIndex } from '../../../../src-main/store/index/run-index.ts';
import { temporaryFolder } from '../fixtures.ts';
import { runRecord } from '../records.ts';

async function openIndex(home: string): Promise<RunIndex> {
  const index = await RunIndex.open(home);
  onTestFinished(() => {
    index.close();
  });
  return index;
}

async function addRun(index: RunIndex, folder: string, changes: Partial<RunRecord>): Promise<string> {
  const record = runRecord(changes);
  await createRunFolder(folder, record);
  index.upsert(record, folder);
  return folder;
}

const project = (name: string) => ({ name, description: '', folder: `/projects/${name}` });

async function threeRuns() {
  const home = await temporaryFolder();
  const index = await openIndex(home);
  const runs = join(home, 'runs');
  await addRun(index, join(runs, 'a'), { id: 'a1', name: 'wide', createdAt: '2026-01-01T00:00:00Z', status: 'failed' });
  await addRun(index, join(runs, 'b'), { id: 'b2', name: 'deep', createdAt: '2026-01-03T00:00:00Z' });
  await addRun(index, join(runs, 'c'), {
    id: 'b3',
    name: 'deep',
    createdAt: '2026-01-02T00:00:00Z',
    status: 'finished',
    project: project('MNIST'),
  });
  return { home, index, runs };
}

const ids = (runs: { id: string }[]) => runs.map((run) => run.id);

describe('RunIndex.list', () => {
  it('returns what each run is and how well it did', async () => {
    const home = await temporaryFolder();
    const index = await openIndex(home);
    const folder = join(home, 'runs', 'a');
    const best = { metric: 'val/ens_nll', value: 0.25, epoch: 3, step: 40 };
    const summary = {
      epochs: 5,
      steps: 50,
      stopReason: 'completed' as const,
      metrics: {},
      best,
      evaluatedSets: [],
    };
    const error = { message: 'Rank 1 died.', rank: 1, device: null, epoch: null, step: null };
    const record = runRecord({ status: 'failed', endedAt: '2026-01-02T04:00:00Z', summary, error }, { members: 3 });
    index.upsert(record, folder);
    expect(index.list()).toEqual([
      {
        id: 'run-1',
        folder,
        name: 'first',
        project: 'wine',
        task: 'regression',
        strategy: 'independent',
        members: 3,
        status: 'failed',
        createdAt: '2026-01-02T03:04:05.000Z',
        endedAt: '2026-01-02T04:00:00Z',
        startedAt: '2026-01-02T03:04:05.000Z',
        trainedSeconds: 0,
        best: { metric: 'val/ens_nll', value: 0.25, epoch: 3 },
        error: 'Rank 1 died.',
        notFinite: null,
        origin: null,
        sweep: null,
        projectFolder: '/projects/wine',
        tags: [],
        note: '',
        isArchived: false,
      },
    ]);
    for (const value of [Number.NaN, -Infinity]) {
      index.upsert(runRecord({ summary: { ...summary, best: { ...best, value } } }), folder);
      expect(index.list()[0].best?.value).toBe(value);
    }
    const metrics = { 'val/member_0_nll': 1, 'val/member_2_nll': Number.NaN };
    index.upsert(runRecord({ summary: { ...summary, metrics } }), folder);
    expect(index.list()[0].notFinite).toBe('not finite: rank 2');
  });

  it('filters, searches, sorts and limits', async () => {
    const { index } = await threeRuns();
    expect(ids(index.list())).toEqual(['b2', 'b3', 'a1']);
    expect(ids(index.list({ limit: 1 }))).toEqual(['b2']);
    expect(ids(index.list({ statuses: ['failed', 'finished'] }))).toEqual(['b3', 'a1']);
    expect(ids(index.list({ statuses: [] }))).toEqual([]);
    expect(ids(index.list({ project: 'wine' }))).toEqual(['b2', 'a1']);
    expect(ids(index.list({ search: 'mnist' }))).toEqual(['b3']);
    expect(ids(index.list({ search: "'; DROP TABLE runs; --" }))).toEqual([]);
    expect(ids(index.list({ sort: { by: 'name', isDescending: true } }))).toEqual(['a1', 'b2', 'b3']);
  });
});

/** Two attempts of one second less than the given time and of one second, with a time between them. */
function trainedSeconds(seconds: number, betweenSeconds: number): Pick<RunRecord, 'attempts' | 'endedAt'> {
  const at = (second: number): string => new Date(Date.UTC(2026, 0, 1) + 1000 * second).toISOString();
  const status = 'finished' as const;
  const [pausedAt, resumedAt, endedAt] = [seconds - 1, seconds - 1 + betweenSeconds, seconds + betweenSeconds].map(at);
  const attempts = [
    { attempt: 1, startedAt: at(0), endedAt: pausedAt, status },
    { attempt: 2, startedAt: resumedAt, endedAt, status },
  ];
  return { attempts, endedAt };
}

describe('a list in which a sweep is one row', () => {
  it('has the first run of each sweep in the order, with what the sweep has found', async () => {
    const { index, runs } = await threeRuns();
    const sweep = { id: 's', name: 'swept', of: 3, seed: 42 };
    const summaryOf = (value: number) => ({
      epochs: 5,
      steps: 50,
      stopReason: 'completed' as const,
      metrics: {},
      evaluatedSets: [],
      best: { metric: 'val/ens_nll', value, epoch: 3, step: 40 },
    });
    for (const [place, value] of [3, 1].entries()) {
      await addRun(index, join(runs, `s-seed-${place}`), {
        id: `s-seed-${place}`,
        name: `swept, seed ${place}`,
        createdAt: `2026-01-02T00:00:0${place}Z`,
        status: 'finished',
        summary: summaryOf(value),
        sweep: { ...sweep, index: place },
      });
    }
    const page = index.page({ isGrouped: true });
    expect(ids(page.rows)).toEqual(['b2', 's-seed-1', 'b3', 'a1']);
    expect(page.total).toBe(4);
    // The mean of 3 and 1; s = √2, so s / √2 = 1. One run is missing.
    const best = { metric: 'val/ens_nll', mean: 2, standardError: expect.closeTo(1, 12) as number, count: 2 };
    expect(page.sweeps).toEqual([{ id: 's', name: 'swept', of: 3, finished: 2, status: 'stopped', best }]);
    expect(ids(index.page({ isGrouped: true, sort: { by: 'best', isDescending: false }, limit: 1 }).rows)).toEqual([
      's-seed-1',
    ]);
    expect(ids(index.page({ isGrouped: true, statuses: ['failed'] }).rows)).toEqual(['a1']);
    expect(ids(index.list({ sweeps: ['s'] }))).toEqual(['s-seed-1', 's-seed-0']);
    expect(['s', 'swept', 's-seed-1', 'b'].map((text) => index.findSweep(text))).toEqual(['s', 's', null, null]);
    await expect(index.find('s-seed')).rejects.toThrow('"s-seed" matches 2 runs');
    await expect(index.find('swept')).rejects.toThrow('s is a sweep of several runs');
  });
});

describe('RunIndex.page', () => {
  async function fourRuns() {
    const home = await temporaryFolder();
    const index = await openIndex(home);
    const add = async (id: string, changes: Partial<RunRecord>, notes: object = {}) => {
      const folder = await addRun(index, join(home, 'runs', id), { id, name: id, ...changes });
      index.annotate(folder, { tags: [], note: '', isArchived: false, pinnedCheckpoints: [], ...notes });
    };
    const best = (value: number) => ({
      summary: {
        epochs: 1,
        steps: 1,
        stopReason: 'completed' as const,
        metrics: {},
        best: { metric: 'val/ens_nll', value, epoch: 0, step: 1 },
        evaluatedSets: [],
      },
    });
    const error = { message: 'Rank 3 died', rank: 3, device: null, epoch: null, step: null };
    await add(
      'a',
      // A longer time from creation to end than that of c, of which it trained less.
      { createdAt: '2026-01-01T00:00:00.000Z', ...trainedSeconds(2, 90), ...best(0.5) },
      { tags: ['wide'] },
    );
    await add('b', { createdAt: '2026-01-03T00:00:00.000Z', ...best(Number.NaN), status: 'failed', error });
    await add(
      'c',
      {
        createdAt: '2026-01-02T00:00:00.000Z',
        ...trainedSeconds(10, 0),
        ...best(0.1),
        project: project('cifar'),
      },
      { note: 'Wide ÄÖ layers', name: 'Zebra' },
    );
    await add('d', { createdAt: '2026-01-04T00:00:00.000Z' }, { isArchived: true });
    const found = (query: Parameters<RunIndex['page']>[0]): string[] =>
      index.page({ isArchived: false, ...query }).rows.map(({ id }) => id);
    return { index, found };
  }

  it('is a part of the list, with the number of all runs that match', async () => {
    const { index, found } = await fourRuns();
    expect(found({})).toEqual(['b', 'c', 'a']);
    expect(found({ isArchived: true })).toEqual(['d']);
    expect(found({ ids: ['a', 'c', 'none'] })).toEqual(['c', 'a']);
    const page = index.page({ offset: 1, limit: 2 });
    expect({ ids: ids(page.rows), total: page.total }).toEqual({ ids: ['b', 'c'], total: 4 });
    expect(index.page({ limit: 0, statuses: ['failed'] })).toEqual({ rows: [], total: 1 });
  });

  it('is sorted by value, with missing values last in both directions', async () => {
    const { found } = await fourRuns();
    const sorted = (by: 'best' | 'duration' | 'name', isDescending: boolean) => found({ sort: { by, isDescending } });
    expect(sorted('best', false)).toEqual(['c', 'a', 'b']);
    expect(sorted('best', true)).toEqual(['a', 'c', 'b']);
    expect(sorted('duration', false)).toEqual(['a', 'c', 'b']);
    expect(sorted('duration', true)).toEqual(['c', 'a', 'b']);
    expect(sorted('name', false)).toEqual(['a', 'b', 'c']);
  });

  it('holds the runs with every word in names, tags, notes and errors, a status, a project or a tag', async () => {
    const { found } = await fourRuns();
    expect(found({ search: 'wide' })).toEqual(['c', 'a']);
    expect(found({ search: ' WIDE  cifar ' })).toEqual(['c']);
    expect(found({ search: 'äö zebra' })).toEqual(['c']);
    expect(found({ search: 'RANK died' })).toEqual(['b']);
    expect(found({ search: 'runs' })).toEqual([]);
    expect(found({ statuses: ['failed'] })).toEqual(['b']);
    expect(found({ project: 'cifar' })).toEqual(['c']);
    expect(found({ tag: 'wide' })).toEqual(['a']);
  });

  it('comes with an overview, and with the changes since', async () => {
    const { index } = await fourRuns();
    const created = { name: 'd', project: 'wine', status: 'created' };
    expect(index.overview()).toMatchObject({ total: 4, projects: ['cifar', 'wine'], tags: ['wide'] });
    const active = index.overview().active;
    expect(active[0]).toEqual({ id: 'd', ...created });
    expect(ids(active)).toEqual(['d', 'c', 'a']);
    const revision = index.revision();
    expect(index.changesSince(revision, 10)).toEqual({ changed: [], removed: [], isPartial: false, revision });
    index.remove((await index.find('b')).folder);
    expect(index.changesSince(revision, 10)).toMatchObject({ changed: [], removed: ['b'], isPartial: false });
    expect(index.changesSince(index.revision() + 1, 10)).toMatchObject({ changed: [], isPartial: true });
  });
});

describe('RunIndex.find', () => {
  it('finds by folder, id, name or prefix', async () => {
    const { index, runs } = await threeRuns();
    expect((await index.find(join(runs, 'b'))).id).toBe('b2');
    expect((await index.find('b3')).id).toBe('b3');
    expect((await index.find('wide')).id).toBe('a1');
    expect((await index.find('wi')).id).toBe('a1');
    expect((await index.find('a')).id).toBe('a1');
  });

  it('names the candidates when several match', async () => {
    const { index } = await threeRuns();
    await expect(index.find('deep')).rejects.toThrow(/"deep" matches 2 runs:\n {2}b2 {2}deep[^]*\n {2}b3 {2}deep/);
    await expect(index.find('b')).rejects.toThrow('"b" matches 2 runs');
  });

  it('names the newest runs when none matches', async () => {
    const { index } = await threeRuns();
    await expect(index.find('%')).rejects.toThrow(/No run has the id[^]*b2[^]*b3[^]*a1/);
    await expect(index.find('')).rejects.toThrow('No run was named');
    await expect((await openIndex(await temporaryFolder())).find('x')).rejects.toThrow('There are no runs yet');
  });

  it('finds and remembers a folder outside the home folder', async () => {
    const home = await temporaryFolder();
    const index = await openIndex(home);
    const folder = join(await temporaryFolder(), 'copied');
    await createRunFolder(folder, runRecord({ id: 'x9' }));
    expect((await index.find(folder)).id).toBe('x9');
    expect((await index.find('x9')).folder).toBe(folder);
    await index.find(folder);
    expect(await readFile(join(home, 'external-runs.txt'), 'utf8')).toBe(`${folder}\n`);
  });
});

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

  it('names unreadable folders and lists the others', async () => {
    const { index, runs } = await threeRuns();
    await writeFile(join(runs, 'b', 'run.json'), '{');
    const problems = await index.rebuild();
    expect(problems.map((problem) => problem.folder)).toEqual([join(runs, 'b')]);
    expect(problems[0].message).toContain('is damaged');
    expect(ids(index.list())).toEqual(['b3', 'a1']);
  });

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
