import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ForkChoice } from '../../../core/protocol/history/fork.ts';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import type { Hub } from '../../../src-main/hub/hub.ts';
import { metricColumns, readCheckpointRecord, resume, startRun, train, untilStep, useHub } from '../harness.ts';

const { hub } = useHub();

const config = {
  members: 2,
  devices: 'cpu:0,1',
  maxEpochs: 6,
  optimizer: { kind: 'adam', learningRate: 0.05 },
  checkpoints: { stateEverySeconds: 0, everyEpochs: 1 },
} satisfies RunConfigInput;

/** SHA-256 of each file of a run. */
async function contentOf(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const hashes = paths.map(async (path) => [relative(folder, path), hash('sha256', await readFile(path))] as const);
  return new Map((await Promise.all(hashes)).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

async function fork(
  of: Hub,
  run: string,
  choice: ForkChoice,
  overrides: RunConfigInput = {},
): Promise<{ folder: string; record: RunRecord }> {
  const planned = await of.planFork(run, { choice, overrides });
  return { folder: planned.folder, record: await of.fork(planned, () => {}).run() };
}

const strategies: [name: string, config: RunConfigInput][] = [
  ['independent members', {}],
  ['stacked members', { membersPerDevice: 2, devices: 'cpu:0' }],
  ['joint members', { strategy: { kind: 'joint' } }],
  ['data-parallel replicas', { strategy: { kind: 'data-parallel' } }],
];

describe('a fork of a state', () => {
  it.each(strategies)('of %s has the bits of its source, which does not change', async (_name, more) => {
    const { folder, record } = await train(hub(), 'blobs', { ...config, ...more });
    const before = await contentOf(folder);
    const states = (await hub().forkPoints(folder)).filter(({ kind }) => kind === 'state');
    expect(states.map(({ epoch }) => epoch)).toEqual([4, 5]);
    const forked = await fork(hub(), folder, { by: 'epoch', epoch: 4 });
    expect(await contentOf(folder)).toEqual(before);
    expect(forked.record).toMatchObject({
      status: 'finished',
      origin: { run: record.id, kind: 'state', point: states[0].name, attempt: 1, epoch: 4, step: states[0].step },
      attempts: [{ kind: 'fork', from: { epoch: 5, step: states[0].step } }],
      summary: { epochs: 6, steps: record.summary?.steps, best: record.summary?.best },
    });
    expect(forked.record.summary?.evaluatedSets).toEqual(record.summary?.evaluatedSets);
    expect(metricColumns(forked.folder)).toEqual(metricColumns(folder));
    expect(readCheckpointRecord(forked.folder, 0, 'final').sha256).toBe(
      readCheckpointRecord(folder, 0, 'final').sha256,
    );
    expect(
      hub()
        .runs({ origin: record.id })
        .map(({ id }) => id),
    ).toEqual([forked.record.id]);
  });

  it('that another fork, a resume and changed options follow leaves the run as it was', async () => {
    const { folder, record } = await train(hub(), 'blobs', config);
    const before = await contentOf(folder);
    await expect(hub().planFork(folder, { choice: { by: 'last' }, overrides: {} })).rejects.toThrow(
      '--set maxEpochs=12',
    );
    const forked = await fork(
      hub(),
      folder,
      { by: 'last' },
      { maxEpochs: 7, optimizer: { ...config.optimizer, learningRate: 0.01 } },
    );
    expect(forked.record).toMatchObject({ status: 'finished', summary: { epochs: 7 } });
    expect(forked.record.attempts[0].overrides).toMatchObject({ maxEpochs: 7 });
    const resumed = await resume(hub(), forked.folder, { maxEpochs: 8 });
    expect(resumed).toMatchObject({ origin: { run: record.id }, attempts: [{ kind: 'fork' }, { kind: 'resume' }] });
    expect(await contentOf(folder)).toEqual(before);
  });

  it('begins at the state of an attempt that a resume replaced', async () => {
    const { folder } = await train(hub(), 'blobs', { ...config, maxEpochs: 3 });
    await resume(hub(), folder, { maxEpochs: 8 });
    const before = await contentOf(folder);
    const points = await hub().forkPoints(folder);
    const kept = points.find(
      ({ name, kind, epoch }) => name.startsWith('attempt-1/') && kind === 'state' && epoch === 2,
    );
    const forked = await fork(hub(), folder, { by: 'name', name: kept?.name ?? '' }, { maxEpochs: 8 });
    expect(await contentOf(folder)).toEqual(before);
    expect(forked.record).toMatchObject({ origin: { attempt: 1, epoch: 2 }, summary: { epochs: 8 } });
    expect(readCheckpointRecord(forked.folder, 1, 'final').sha256).toBe(
      readCheckpointRecord(folder, 1, 'final').sha256,
    );
  });
});

describe('a fork of a checkpoint', () => {
  it('takes the weights alone, keeps the metrics up to there, and goes on with the next epoch', async () => {
    const { folder, record } = await train(hub(), 'blobs', config);
    const before = await contentOf(folder);
    const forked = await fork(hub(), folder, { by: 'epoch', epoch: 1 }, { maxEpochs: 4 });
    expect(await contentOf(folder)).toEqual(before);
    expect(forked.record).toMatchObject({
      status: 'finished',
      origin: { run: record.id, kind: 'checkpoint', epoch: 1, step: 6 },
      attempts: [{ kind: 'fork', from: { epoch: 2, step: 6 } }],
      summary: { epochs: 4, steps: 12 },
    });
    const [old, own] = [metricColumns(folder), metricColumns(forked.folder)];
    const rows = (old.get('step') ?? []).filter((step) => Number(step) <= 6).length;
    for (const [name, cells] of old) expect(own.get(name)?.slice(0, rows), name).toEqual(cells.slice(0, rows));
    expect(own.get('step')?.length).toBeGreaterThan(rows);
    const weights = await readFile(join(forked.folder, 'origin', 'rank-0.safetensors'));
    expect(hash('sha256', weights)).toBe(readCheckpointRecord(folder, 0, 'epoch-00001').sha256);
  });

  it.each(strategies.filter(([name]) => name !== 'joint members'))('of %s trains', async (_name, more) => {
    const { folder } = await train(hub(), 'blobs', { ...config, ...more, maxEpochs: 2 });
    const forked = await fork(hub(), folder, { by: 'name', name: 'epoch-00000' });
    expect(forked.record).toMatchObject({ status: 'finished', summary: { epochs: 2 } });
    expect(forked.record.summary?.best?.epoch).toBe(1);
  });
});

describe('a run that trains', () => {
  it('can be forked, and goes on undisturbed', async () => {
    const checkpoints = { stateEverySeconds: 0, everyEpochs: 5 };
    const run = await startRun(hub(), 'blobs', { ...config, maxEpochs: 4000, checkpoints });
    await untilStep(run, 0, 60);
    const forked = await fork(hub(), run.folder, { by: 'name', name: 'epoch-00004' }, { maxEpochs: 6 });
    expect(forked.record.status).toBe('finished');
    run.session.control({ action: 'stop' });
    expect(await run.ended).toMatchObject({ status: 'stopped', attempts: [{ attempt: 1 }] });
  });
});
