import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { createRunFolder } from '../../../src-main/store/runs/run-folder.ts';
import { tryHubLock } from '../../../src-main/store/runs/hub-lock.ts';
import { runRecord } from '../store/records.ts';
import { openService } from './page.ts';

/** Writes a checkpoint whose weights have 100 bytes. */
async function writeCheckpoint(folder: string, name: string, step: number): Promise<void> {
  const weights = Buffer.alloc(100, name);
  const base = join(folder, 'checkpoints', 'rank-0', name);
  await mkdir(dirname(base), { recursive: true });
  await writeFile(`${base}.safetensors`, weights);
  const sha256 = createHash('sha256').update(weights).digest('hex');
  const described = { format: 1, rank: 0, name, epoch: 0, step, monitor: null, score: null, sha256, bytes: 100 };
  await writeFile(`${base}.json`, JSON.stringify({ ...described, savedAt: '2026-01-02T03:05:05.000Z' }));
}

async function openRuns() {
  const opened = await openService();
  const add = async (id: string, changes: Partial<RunRecord>): Promise<string> => {
    const folder = join(opened.home, 'home', 'runs', id);
    await createRunFolder(folder, runRecord({ id, name: id, endedAt: '2026-01-02T03:05:05.000Z', ...changes }));
    await mkdir(join(folder, 'state'), { recursive: true });
    await writeFile(join(folder, 'state', 'x'), Buffer.alloc(1000));
    return folder;
  };
  const done = await add('done', { status: 'finished' });
  for (const [name, step] of [
    ['ensemble-best', 20],
    ['final', 40],
    ['epoch-1', 10],
    ['epoch-2', 20],
    ['epoch-3', 30],
  ] as const)
    await writeCheckpoint(done, name, step);
  await mkdir(join(done, 'predictions'));
  await writeFile(join(done, 'predictions', 'y'), Buffer.alloc(500));
  await add('stopped', { status: 'stopped' });
  const lost = { rank: 0, attempt: 1, epoch: 1, step: 2, how: 'was killed by SIGKILL' };
  await add('incomplete', { status: 'finished', lostMembers: [lost] });
  const { hub } = opened.page;
  await hub.runs({});
  await hub.pinCheckpoints('done', { checkpoints: [{ rank: 0, name: 'epoch-3' }], isPinned: true });
  return { ...opened, hub, done };
}

it('offers states, predictions and unimportant checkpoints of finished runs', async () => {
  const { hub } = await openRuns();
  const items = await hub.cleanable();
  // Epoch 2 has the weights of the best step, and epoch 3 is pinned. The record of epoch 1 counts too.
  expect(items.map(({ run, kind }) => [run, kind])).toEqual([
    ['done', 'state'],
    ['done', 'predictions'],
    ['done', 'checkpoints'],
  ]);
  expect(items.slice(0, 2).map(({ bytes }) => bytes)).toEqual([1000, 500]);
  const { cells } = await hub.checkpoints('done');
  expect(cells).toHaveLength(5);
});

it('removes what was chosen, and restores it within 10 s', async () => {
  const { hub, done } = await openRuns();
  const { deletions, failed, bytes } = await hub.clean([
    { run: 'done', kind: 'state' },
    { run: 'done', kind: 'checkpoints' },
    { run: 'stopped', kind: 'state' },
  ]);
  expect(bytes).toBeGreaterThan(1100);
  expect(failed.map(({ run }) => run)).toEqual(['stopped']);
  const names = async () => (await hub.checkpoints('done')).cells.map(({ record }) => record.name).sort();
  expect(await names()).toEqual(['ensemble-best', 'epoch-2', 'epoch-3', 'final']);
  expect(existsSync(join(done, 'state'))).toBe(false);
  for (const deletion of deletions) await hub.undoDelete(deletion);
  expect(await names()).toEqual(['ensemble-best', 'epoch-1', 'epoch-2', 'epoch-3', 'final']);
  expect(existsSync(join(done, 'state', 'x'))).toBe(true);
});

it('leaves a run that a process trains, and removes archived runs as a whole', async () => {
  const { hub, done } = await openRuns();
  const lock = tryHubLock(done);
  onTestFinished(() => lock?.release());
  expect(await hub.cleanable()).toEqual([]);
  expect((await hub.clean([{ run: 'done', kind: 'state' }])).failed).toHaveLength(1);
  await hub.updateRun('stopped', { isArchived: true });
  expect((await hub.cleanable()).map(({ run, kind }) => [run, kind])).toEqual([['stopped', 'archived']]);
  await hub.clean([{ run: 'stopped', kind: 'archived' }]);
  expect((await hub.runs({})).rows.map(({ id }) => id).sort()).toEqual(['done', 'incomplete']);
});

it('measures runs and keeps a quota', async () => {
  const { hub } = await openRuns();
  const use = await hub.diskUse();
  const { values = [] } = await hub.runs({ fields: ['disk'] });
  const total = values.reduce((sum, [bytes]) => sum + Number(bytes), 0);
  expect(use).toMatchObject({ totalBytes: total, quotaBytes: null, projects: [{ project: 'wine', runs: 3 }] });
  await hub.setDiskQuota(1000);
  expect(await hub.measureNewRuns()).toEqual({ totalBytes: total, quotaBytes: 1000 });
  await expect(hub.setDiskQuota(-1)).rejects.toThrow('setDiskQuota');
  await hub.setDiskQuota(null);
  expect((await hub.measureNewRuns()).quotaBytes).toBeNull();
});
