import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { RunListChange } from '../../../core/protocol/pages/run-list.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { Hub } from '../../../src-main/hub/hub.ts';
import { RunList } from '../../../src-main/rpc/runs/run-list.ts';
import { createRunFolder } from '../../../src-main/store/runs/run-folder.ts';
import { RunIndex } from '../../../src-main/store/index/run-index.ts';
import { runRecord } from '../store/records.ts';

/** A run list over an empty home, and a separate index that stands for another process. */
async function openList() {
  const home = await mkdtemp(join(tmpdir(), 'tutti-run-list-'));
  vi.stubEnv('TUTTI_HOME', home);
  const hub = await Hub.open();
  const errors: unknown[] = [];
  const list = new RunList(hub, (error) => errors.push(error));
  const elsewhere = await RunIndex.open(home);
  onTestFinished(async () => {
    list.close();
    elsewhere.close();
    hub.close();
    vi.unstubAllEnvs();
    await rm(home, { recursive: true });
    expect(errors).toEqual([]);
  });
  const folder = join(home, 'runs', 'run-1');
  return { list, elsewhere, folder };
}

/** What the next change contains. */
function nextChange(list: RunList): Promise<RunListChange> {
  const { promise, resolve } = Promise.withResolvers<RunListChange>();
  const unsubscribe = list.subscribe((change) => {
    unsubscribe();
    resolve(change);
  });
  return promise;
}

const summary: RunRecord['summary'] = {
  attempt: 1,
  epochs: 5,
  steps: 50,
  stopReason: 'completed',
  metrics: {},
  best: { metric: 'val/ens_nll', value: 0.25, epoch: 3, step: 40 },
  evaluatedSets: [],
};

it('reports runs that start and end in other processes', async () => {
  const { list, elsewhere, folder } = await openList();
  await createRunFolder(folder, runRecord({ status: 'finished' }));
  const began = nextChange(list);
  elsewhere.upsert(runRecord({ status: 'running' }), folder);
  const row = {
    folder,
    id: 'run-1',
    name: 'first',
    project: 'wine',
    projectFolder: '/projects/wine',
    task: 'regression',
    strategy: 'independent',
    status: 'running',
    members: 2,
    best: null,
    createdAt: '2026-01-02T03:04:05.000Z',
    endedAt: null,
    error: null,
    trainedSeconds: 0,
    startedAt: '2026-01-02T03:04:05.000Z',
    notFinite: null,
    origin: null,
    sweep: null,
    tags: [],
    note: '',
    isArchived: false,
  };
  const active = [{ id: 'run-1', name: 'first', project: 'wine', status: 'running' }];
  const overview = { total: 1, active, projects: ['wine'], tags: [] };
  expect(await began).toEqual({ changed: [row], removed: [], isPartial: false, overview });

  const ended = nextChange(list);
  elsewhere.upsert(runRecord({ status: 'finished', summary }), folder);
  expect(await ended).toMatchObject({
    changed: [{ status: 'finished', best: { metric: 'val/ens_nll', value: 0.25, epoch: 3 } }],
    overview: { active: [] },
  });

  const removed = nextChange(list);
  elsewhere.remove(folder);
  expect(await removed).toEqual({
    changed: [],
    removed: ['run-1'],
    isPartial: false,
    overview: { total: 0, active: [], projects: [], tags: [] },
  });
});

it('marks a run whose process is gone when it is queried', async () => {
  const { list, folder } = await openList();
  await createRunFolder(folder, runRecord({ status: 'running' }));
  expect(await list.page({})).toMatchObject({ rows: [{ id: 'run-1', status: 'interrupted' }], total: 1 });
  expect(await list.overview()).toMatchObject({ total: 1, active: [] });
});

it('merges several writes into one update, and sends none if nothing changed', async () => {
  const { list, elsewhere, folder } = await openList();
  const record = runRecord({ status: 'finished' });
  const began = nextChange(list);
  elsewhere.upsert(record, folder);
  await began;
  const told: RunListChange[] = [];
  list.subscribe((change) => told.push(change));
  elsewhere.upsert(record, folder);
  elsewhere.upsert({ ...record, id: 'run-2' }, `${folder}-2`);
  await expect.poll(() => told.length).toBe(1);
  expect(told[0].changed.map(({ id }) => id)).toEqual(['run-2']);
});

it('names 50 changed runs at most, and no overview that is as before', async () => {
  const { list, elsewhere, folder } = await openList();
  const change = (number: number): void =>
    elsewhere.upsert(runRecord({ id: `run-${number}`, status: 'finished' }), `${folder}-${number}`);
  const begun = nextChange(list);
  for (let number = 0; number < 51; number += 1) change(number);
  const first = await begun;
  expect(first).toMatchObject({ isPartial: true, overview: { total: 51 } });
  expect(first.changed).toHaveLength(50);
  const second = nextChange(list);
  elsewhere.noteBest(`${folder}-7`, { metric: 'val/ens_nll', value: 0.5, epoch: 3 });
  expect(await second).toMatchObject({ changed: [{ id: 'run-7' }], isPartial: false, overview: null });
});

it('answers while a home with many runs is read for the first time, and ends with all of them', async () => {
  const home = await mkdtemp(join(tmpdir(), 'tutti-run-list-'));
  vi.stubEnv('TUTTI_HOME', home);
  const runs = 150;
  for (let number = 0; number < runs; number += 1) {
    const id = `run-${number}`;
    await createRunFolder(join(home, 'runs', id), runRecord({ id, status: number === 149 ? 'running' : 'finished' }));
  }
  const notices: string[] = [];
  const hub = await Hub.open((notice) => notices.push(notice));
  const list = new RunList(hub, (error) => notices.push(String(error)));
  onTestFinished(async () => {
    list.close();
    hub.close();
    vi.unstubAllEnvs();
    await rm(home, { recursive: true });
  });
  expect(await hub.find('run-149')).toMatchObject({ id: 'run-149' });
  await expect.poll(async () => (await list.overview()).total).toBe(runs);
  expect((await list.page({ ids: ['run-149'] })).rows).toMatchObject([{ status: 'interrupted' }]);
  expect(notices).toEqual([]);
});
