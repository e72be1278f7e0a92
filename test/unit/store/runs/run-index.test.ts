import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../../core/protocol/run/config.ts';
import type { RunRecord } from '../../../../core/protocol/run/record.ts';
import { createRunFolder } from '../../../../src-main/store/runs/run-folder.ts';
import type { RunIndex } from '../../../../src-main/store/index/run-index.ts';
import { temporaryFolder } from '../fixtures.ts';
import { runRecord } from '../records.ts';
import { addRun, ids, openIndex, project, threeRuns } from './run-index-fixtures.ts';

describe('RunIndex.list', () => {
  it('returns what each run is and how well it did', async () => {
    const home = await temporaryFolder();
    const index = await openIndex(home);
    const folder = join(home, 'runs', 'a');
    const best = { metric: 'val/ens_nll', value: 0.25, epoch: 3, step: 40 };
    const summary = {
      attempt: 1,
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

  it('counts members, and not the ranks that train one model', async () => {
    const home = await temporaryFolder();
    const index = await openIndex(home);
    const add = (id: string, config: RunConfigInput) => index.upsert(runRecord({ id }, config), join(home, 'runs', id));
    add('one', { members: 8, strategy: { kind: 'data-parallel' } });
    add('two', { members: 8, strategy: { kind: 'pipeline', stages: 4 } });
    add('eight', { members: 8 });
    const members = index.list().map((row) => [row.id, row.members] as const);
    expect(new Map(members)).toEqual(
      new Map([
        ['one', 1],
        ['two', 2],
        ['eight', 8],
      ]),
    );
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
      attempt: 1,
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
        attempt: 1,
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

  it('finds the newest run by the word last, unless one is named so', async () => {
    const { index, runs } = await threeRuns();
    const [newest] = index.list({ sort: { by: 'created', isDescending: true } });
    expect((await index.find('last')).id).toBe(newest.id);
    expect((await index.find('Last')).id).toBe(newest.id);
    await createRunFolder(
      join(runs, 'd'),
      runRecord({ id: 'c4', name: 'last', createdAt: '2020-01-01T00:00:00.000Z' }),
    );
    await index.refresh();
    expect((await index.find('last')).id).toBe('c4');
    await expect((await openIndex(await temporaryFolder())).find('last')).rejects.toThrow('There are no runs yet');
  });

  it('finds names and ids without case where nothing is spelt exactly so', async () => {
    const { index, runs } = await threeRuns();
    expect((await index.find('WIDE')).id).toBe('a1');
    expect((await index.find('Wi')).id).toBe('a1');
    expect((await index.find('B3')).id).toBe('b3');
    await createRunFolder(join(runs, 'd'), runRecord({ id: 'c4', name: 'Deep' }));
    await index.refresh();
    expect((await index.find('Deep')).id).toBe('c4');
    await expect(index.find('deep')).rejects.toThrow('matches 2 runs');
    await expect(index.find('DEEP')).rejects.toThrow('matches 3 runs');
  });

  it('does not mean failed runs without checkpoints where another run is meant', async () => {
    const { index, runs } = await threeRuns();
    await createRunFolder(join(runs, 'd'), runRecord({ id: 'd4', name: 'narrow', status: 'finished' }));
    await createRunFolder(join(runs, 'e'), runRecord({ id: 'e5', name: 'narrow', status: 'failed' }));
    await index.refresh();
    expect((await index.find('narrow')).id).toBe('d4');
    expect((await index.find('e5')).status).toBe('failed');
    await mkdir(join(runs, 'e', 'checkpoints', 'rank-0'), { recursive: true });
    await writeFile(join(runs, 'e', 'checkpoints', 'rank-0', 'epoch-3.safetensors'), '');
    await expect(index.find('narrow')).rejects.toThrow('matches 2 runs');
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
