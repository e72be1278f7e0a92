import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { fieldsOf, summarizeField } from '../../../../core/protocol/pages/runs/run-fields.ts';
import type { RunRecord } from '../../../../core/protocol/run/record.ts';
import { RunIndex } from '../../../../src-main/store/index/run-index.ts';
import { createRunFolder } from '../../../../src-main/store/runs/run-folder.ts';
import { temporaryFolder } from '../fixtures.ts';
import { runRecord } from '../records.ts';

const sweep = { id: 's', name: 'swept', of: 2, seed: 1 };

function summaryOf(nll: number, metrics: Record<string, number> = {}): NonNullable<RunRecord['summary']> {
  return {
    attempt: 1,
    epochs: 5,
    steps: 50,
    stopReason: 'completed',
    metrics: { 'val/ens_nll': nll, 'val/member_0_nll': 9, ...metrics },
    best: { metric: 'val/ens_nll', value: nll, epoch: 3, step: 40 },
    evaluatedSets: [{ set: 'final', split: 'test', ranks: [0], epochs: [4], ensemble: { acc: 1 - nll }, members: {} }],
  };
}

/** Five runs: three with a rate of 0.1, one without a result, one of another project. */
async function openRuns(): Promise<RunIndex> {
  const home = await temporaryFolder();
  const index = await RunIndex.open(home);
  onTestFinished(() => index.close());
  const add = async (id: string, changes: Partial<RunRecord>, rate: number, tags: string[] = []) => {
    const folder = join(home, 'runs', id);
    const record = runRecord(
      { id, name: id, status: 'finished', createdAt: `2026-01-0${id[1]}T00:00:00Z`, ...changes },
      { optimizer: { kind: 'adam', learningRate: rate } },
    );
    await createRunFolder(folder, record);
    index.upsert(record, folder);
    index.annotate(folder, { tags, note: '', isArchived: false, pinnedCheckpoints: [] });
  };
  await add('r1', { summary: summaryOf(0.5), sweep: { ...sweep, index: 0 } }, 0.1, ['paper']);
  await add('r2', { summary: summaryOf(0.3), sweep: { ...sweep, index: 1 } }, 0.1, ['paper', 'night']);
  await add('r3', { summary: summaryOf(Number.NaN) }, 0.1);
  await add('r4', { status: 'failed' }, 0.01);
  const project = { name: 'moons', description: '', folder: '/projects/moons' };
  await add('r5', { summary: summaryOf(0.2), project, gitCommit: 'abc' }, 0.01);
  return index;
}

it("finds the runs of a project's folder, however that is written", async () => {
  const home = await temporaryFolder();
  const index = await RunIndex.open(home);
  onTestFinished(() => index.close());
  const project = join(home, 'projects', 'wine');
  const link = join(home, 'wine-link');
  await mkdir(project, { recursive: true });
  await symlink(project, link);
  for (const [id, folder] of [
    ['r1', project],
    ['r2', link],
    ['r3', join(home, 'projects')],
  ]) {
    const record = runRecord({
      id,
      createdAt: `2026-01-0${id[1]}T00:00:00Z`,
      project: { name: 'wine', description: '', folder },
    });
    index.upsert(record, join(home, 'runs', id));
  }
  const idsOf = (projectFolder: string): string[] => index.list({ projectFolder }).map(({ id }) => id);
  expect(idsOf(project)).toEqual(['r2', 'r1']);
  expect(idsOf(link)).toEqual(['r2', 'r1']);
  expect(idsOf(`${home}/projects/../projects/wine/`)).toEqual(['r2', 'r1']);
  expect(idsOf(join(home, 'gone'))).toEqual([]);
  expect(index.projects(5).map(({ folder }) => folder)).toEqual([join(home, 'projects'), link]);
});

const rate = 'option:optimizer.learningRate';
const nll = 'metric:val/ens_nll';

it('keeps options, results, devices and commit of a run, but no metrics of single members', () => {
  const device = {
    id: 'cpu:0',
    kind: 'cpu' as const,
    index: 0,
    name: '',
    memoryTotalBytes: null,
    memoryUsedBytes: null,
  };
  const plan = [0, 1].map((rank) => ({ rank, wave: 0, device: { ...device, load: null, processCount: null } }));
  const fields = fieldsOf({ ...runRecord({ summary: summaryOf(0.25), plan, gitCommit: 'abc' }, { seed: 7 }) });
  expect(fields).toMatchObject({
    'option:seed': 7,
    'option:identicalSeeds': 'false',
    [nll]: 0.25,
    'set:final/test/acc': 0.75,
    devices: 'cpu:0',
    commit: 'abc',
  });
  expect(Object.keys(fields).filter((field) => field.includes('member_'))).toEqual([]);
});

it('answers the values that a query names, and sorts by them with NaN last', async () => {
  const index = await openRuns();
  const read = (isDescending: boolean) => index.page({ fields: [nll, rate, 'disk'], sort: { by: nll, isDescending } });
  const page = read(false);
  expect(page.rows.map(({ id }) => id)).toEqual(['r5', 'r2', 'r1', 'r4', 'r3']);
  expect(page.values).toEqual([
    [0.2, 0.01, null],
    [0.3, 0.1, null],
    [0.5, 0.1, null],
    [null, 0.01, null],
    [Number.NaN, 0.1, null],
  ]);
  expect(read(true).rows.map(({ id }) => id)).toEqual(['r1', 'r2', 'r5', 'r4', 'r3']);
});

it('groups runs by an option, with means over finished runs', async () => {
  const index = await openRuns();
  const { groups, total } = index.groups({ query: {}, by: rate, fields: [nll, 'option:seed'] });
  expect(total).toBe(2);
  const [slow, fast] = groups;
  // Of 0.01 only r5 has finished; one value has a mean and no error.
  expect(slow).toMatchObject({ value: 0.01, label: '0.01', runs: 2, finished: 1, newest: '2026-01-05T00:00:00Z' });
  expect(slow.best).toEqual({ metric: 'val/ens_nll', mean: 0.2, standardError: Number.NaN, count: 1 });
  // Of 0.1: (0.5 + 0.3) / 2 = 0.4; s² = 0.02, so s / √2 = 0.1. The NaN does not count and is said.
  expect(fast).toMatchObject({ value: 0.1, runs: 3, finished: 3 });
  const estimate = { mean: 0.4, standardError: expect.closeTo(0.1, 12) as number, count: 2 };
  expect(fast.best).toEqual({ metric: 'val/ens_nll', ...estimate });
  expect(fast.values).toEqual([
    { kind: 'estimate', ...estimate, leftOut: 1 },
    { kind: 'same', value: 42 },
  ]);
});

it('groups by project, tag and sweep; a run is in the group of each of its tags', async () => {
  const index = await openRuns();
  const counts = (by: 'project' | 'tag' | 'sweep') =>
    index
      .groups({ query: { sort: { by: 'name', isDescending: false } }, by, fields: [] })
      .groups.map(({ label, value, runs }) => [label, value, runs]);
  expect(counts('project')).toEqual([
    ['moons', 'moons', 1],
    ['wine', 'wine', 4],
  ]);
  expect(counts('tag')).toEqual([
    ['night', 'night', 1],
    ['paper', 'paper', 2],
    ['', null, 3],
  ]);
  expect(counts('sweep')).toEqual([
    ['swept', 's', 2],
    ['', null, 3],
  ]);
  const ids = (group: { by: 'tag' | 'sweep' | typeof rate; value: string | number | null }) =>
    index.page({ group, isArchived: false }).rows.map(({ id }) => id);
  expect(ids({ by: 'tag', value: 'paper' })).toEqual(['r2', 'r1']);
  expect(ids({ by: 'tag', value: null })).toEqual(['r5', 'r4', 'r3']);
  expect(ids({ by: 'sweep', value: null })).toEqual(['r5', 'r4', 'r3']);
  expect(ids({ by: rate, value: 0.01 })).toEqual(['r5', 'r4']);
});

it('sums up the fields of a sweep that is one row', async () => {
  const index = await openRuns();
  const { sweeps } = index.page({ isGrouped: true, fields: [nll, rate, 'commit'] });
  expect(sweeps?.[0].values).toEqual([
    { kind: 'estimate', mean: 0.4, standardError: expect.closeTo(0.1, 12) as number, count: 2, leftOut: 0 },
    { kind: 'same', value: 0.1 },
    { kind: 'none' },
  ]);
});

it('says in which fields runs differ', async () => {
  const index = await openRuns();
  const known = new Map(index.knownFields({}).map((field) => [field.field, field]));
  expect(known.get(rate)).toEqual({ field: rate, differs: true, isNumber: true });
  expect(known.get('option:seed')).toEqual({ field: 'option:seed', differs: false, isNumber: true });
  expect(known.get('option:strategy.kind')).toEqual({ field: 'option:strategy.kind', differs: false, isNumber: false });
  // One run has a commit, the others have none.
  expect(known.get('commit')?.differs).toBe(true);
  expect(known.get(nll)?.differs).toBe(true);
});

it('names the range of settings that differ, and averages results only', () => {
  expect(summarizeField('option:x', [3, 1, 2, 1, null])).toEqual({ kind: 'several', count: 3, range: [1, 3] });
  expect(summarizeField('option:x', ['a', 'b'])).toEqual({ kind: 'several', count: 2, range: null });
  expect(summarizeField('option:x', [null])).toEqual({ kind: 'none' });
  expect(summarizeField('metric:x', [1, 1])).toEqual({
    kind: 'estimate',
    mean: 1,
    standardError: 0,
    count: 2,
    leftOut: 0,
  });
});
