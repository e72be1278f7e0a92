import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ForkChoice } from '../../../core/protocol/history/history.ts';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import type { Hub } from '../../../src-main/hub/hub.ts';
import {
  mergedMetrics,
  metricColumns,
  readCheckpointRecord,
  resume,
  startRun,
  trainOnce,
  untilStep,
  useHub,
} from '../harness.ts';

const { hub } = useHub();
/** Forks do not change their source, so the tests share the sources. */
const source = trainOnce();

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

/** In one worker, which starts faster. */
const stacked = { membersPerDevice: 2, devices: 'cpu:0' } satisfies RunConfigInput;

const strategies: [name: string, config: RunConfigInput][] = [
  ['independent members', {}],
  ['stacked members', stacked],
  ['joint members', { strategy: { kind: 'joint' } }],
  ['data-parallel replicas', { strategy: { kind: 'data-parallel' } }],
  ['a pipelined model', { strategy: { kind: 'pipeline' } }],
];

describe.concurrent('a fork of a state', () => {
  it.each(strategies)('of %s has the bits of its source, which does not change', async (_name, more) => {
    const { folder, record } = await source(hub(), 'blobs', { ...config, ...more });
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
    expect(await mergedMetrics(forked.folder)).toEqual(await mergedMetrics(folder));
    expect(readCheckpointRecord(forked.folder, 0, 'final').sha256).toBe(
      readCheckpointRecord(folder, 0, 'final').sha256,
    );
    expect(
      hub()
        .runs({ origin: record.id })
        .map(({ id }) => id),
    ).toContain(forked.record.id);
  });

  it('with changed options can be resumed, and forked where a resume replaced its end; no source changes', async () => {
    const { folder, record } = await source(hub(), 'blobs', { ...config, ...stacked });
    const before = await contentOf(folder);
    await expect(hub().planFork(folder, { choice: { by: 'last' }, overrides: {} })).rejects.toThrow(
      '--set maxEpochs=12',
    );
    const optimizer = { ...config.optimizer, learningRate: 0.01 };
    const forked = await fork(hub(), folder, { by: 'last' }, { maxEpochs: 7, optimizer });
    expect(forked.record).toMatchObject({ status: 'finished', summary: { epochs: 7 } });
    expect(forked.record.attempts[0].overrides).toMatchObject({ maxEpochs: 7 });
    const resumed = await resume(hub(), forked.folder, { maxEpochs: 9 });
    expect(resumed).toMatchObject({ origin: { run: record.id }, attempts: [{ kind: 'fork' }, { kind: 'resume' }] });

    const resumedContent = await contentOf(forked.folder);
    const points = await hub().forkPoints(forked.folder);
    const kept = points.find(
      ({ name, kind, epoch }) => name.startsWith('attempt-1/') && kind === 'state' && epoch === 6,
    );
    const again = await fork(hub(), forked.folder, { by: 'name', name: kept?.name ?? '' }, { maxEpochs: 9 });
    expect(again.record).toMatchObject({ origin: { attempt: 1, epoch: 6 }, summary: { epochs: 9 } });
    for (const rank of [0, 1]) {
      const final = readCheckpointRecord(again.folder, rank, 'final').sha256;
      expect(final).toBe(readCheckpointRecord(forked.folder, rank, 'final').sha256);
    }
    expect(await contentOf(forked.folder)).toEqual(resumedContent);
    expect(await contentOf(folder)).toEqual(before);
  });
});

describe.concurrent('a fork of a checkpoint', () => {
  it('takes the weights alone, keeps the metrics up to there, and continues with the next epoch', async () => {
    const { folder, record } = await source(hub(), 'blobs', config);
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

  it.each(strategies.slice(1).filter(([name]) => name !== 'joint members'))('of %s trains', async (_name, more) => {
    const { folder } = await source(hub(), 'blobs', { ...config, ...more });
    const forked = await fork(hub(), folder, { by: 'name', name: 'epoch-00000' }, { maxEpochs: 2 });
    expect(forked.record).toMatchObject({ status: 'finished', summary: { epochs: 2 } });
    expect(forked.record.summary?.best?.epoch).toBe(1);
  });
});

describe.concurrent('a fork of a run in waves', () => {
  it('begins at a checkpoint, because its members have no state of the same moment', async () => {
    const waves: RunConfigInput = { ...config, devices: 'cpu:0', placement: 'waves', maxEpochs: 2 };
    const { folder, record } = await source(hub(), 'blobs', waves);
    const before = await contentOf(folder);
    const kinds = (await hub().forkPoints(folder)).map(({ kind }) => kind);
    expect(new Set(kinds)).toEqual(new Set(['checkpoint']));
    const forked = await fork(hub(), folder, { by: 'name', name: 'epoch-00000' }, { maxEpochs: 3 });
    expect(forked.record).toMatchObject({
      status: 'finished',
      origin: { run: record.id, kind: 'checkpoint', point: 'epoch-00000', epoch: 0 },
      plan: [{ wave: 0 }, { wave: 1 }],
      summary: { epochs: 3 },
    });
    expect(await contentOf(folder)).toEqual(before);
  });
});

describe.concurrent('a run that trains', () => {
  it('can be forked, and goes on undisturbed', async () => {
    const checkpoints = { stateEverySeconds: 0, everyEpochs: 5 };
    const run = await startRun(hub(), 'blobs', { ...config, ...stacked, maxEpochs: 4000, checkpoints });
    await untilStep(run, 0, 60);
    const forked = await fork(hub(), run.folder, { by: 'name', name: 'epoch-00004' }, { maxEpochs: 6 });
    expect(forked.record.status).toBe('finished');
    run.session.control({ action: 'stop' });
    expect(await run.ended).toMatchObject({ status: 'stopped', attempts: [{ attempt: 1 }] });
  });
});
