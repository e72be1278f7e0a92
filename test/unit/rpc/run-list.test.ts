import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { RunRow } from '../../../core/protocol/pages/run-views.ts';
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
function nextChange(list: RunList): Promise<RunRow[]> {
  const { promise, resolve } = Promise.withResolvers<RunRow[]>();
  const unsubscribe = list.subscribe((runs) => {
    unsubscribe();
    resolve(runs);
  });
  return promise;
}

const summary: RunRecord['summary'] = {
  epochs: 5,
  steps: 50,
  stopReason: 'completed',
  metrics: {},
  best: { metric: 'val/ens_nll', value: 0.25, epoch: 3, step: 40 },
  evaluatedSets: [],
};

it('reports runs that start and end in other processes', async () => {
  const { list, elsewhere, folder } = await openList();
  expect(await list.list()).toEqual([]);

  const began = nextChange(list);
  elsewhere.upsert(runRecord({ status: 'running' }), folder);
  expect(await began).toEqual([
    {
      folder,
      id: 'run-1',
      name: 'first',
      project: 'wine',
      task: 'regression',
      strategy: 'independent',
      status: 'running',
      members: 2,
      best: null,
      createdAt: '2026-01-02T03:04:05.000Z',
      endedAt: null,
      error: null,
      notFinite: null,
      tags: [],
      note: '',
      isArchived: false,
    },
  ]);

  const ended = nextChange(list);
  elsewhere.upsert(runRecord({ status: 'finished', summary }), folder);
  expect(await ended).toMatchObject([{ status: 'finished', best: { metric: 'val/ens_nll', value: 0.25, epoch: 3 } }]);
});

it('marks a run whose process is gone when it is queried', async () => {
  const { list, folder } = await openList();
  await createRunFolder(folder, runRecord({ status: 'running' }));
  expect(await list.list()).toMatchObject([{ id: 'run-1', status: 'interrupted' }]);
});

it('merges several writes into one update, and sends none if nothing changed', async () => {
  const { list, elsewhere, folder } = await openList();
  const record = runRecord({ status: 'finished' });
  const began = nextChange(list);
  elsewhere.upsert(record, folder);
  await began;
  const told: RunRow[][] = [];
  list.subscribe((runs) => told.push(runs));
  elsewhere.upsert(record, folder);
  elsewhere.upsert({ ...record, id: 'run-2' }, `${folder}-2`);
  await expect.poll(() => told.length).toBe(1);
  expect(told[0].map(({ id }) => id)).toEqual(['run-1', 'run-2']);
});

it('reads the index again only after somebody has written it', async () => {
  const { list, elsewhere, folder } = await openList();
  await createRunFolder(folder, runRecord());
  elsewhere.upsert(runRecord(), folder);
  const read = vi.spyOn(RunIndex.prototype, 'rows');
  onTestFinished(() => {
    read.mockRestore();
  });
  const first = await list.list();
  const readings = read.mock.calls.length;
  expect(await list.list()).toEqual(first);
  expect(read.mock.calls.length).toBe(readings);
  elsewhere.noteBest(folder, { metric: 'val/ens_nll', value: 0.5, epoch: 3 });
  expect(await list.list()).toMatchObject([{ best: { metric: 'val/ens_nll', value: 0.5, epoch: 3 } }]);
});
