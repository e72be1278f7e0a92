import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../core/protocol/run/config.ts';
import type { RunUpdate } from '../../core/protocol/pages/run-updates.ts';
import {
  isRunning,
  mergedMetrics,
  metricValues,
  pidOf,
  pidOnceTraining,
  startRun,
  train,
  useHub,
  type WatchedRun,
} from './harness.ts';
import { noMemoryFolder, notRun } from '../environment/reasons.ts';

const { hub } = useHub();
const modes = ['local', 'broadcast', 'shared'] as const;
const config: RunConfigInput = { members: 2, devices: 'cpu:0,1', maxEpochs: 4, seed: 3, sampler: 'shared' };
const endless: RunConfigInput = { ...config, maxEpochs: 1_000_000, hyperparameters: { samples: 3000 } };

/** Run folders of this process's hub; none without such memory. */
function scratchFolders(): string[] {
  if (noMemoryFolder !== null) return [];
  return readdirSync('/dev/shm').filter((name) => name.startsWith(`tutti-${process.pid}-`));
}

/** Names of the data files in these folders. */
const dataInMemory = (): string[] =>
  scratchFolders()
    .flatMap((folder) => readdirSync(join('/dev/shm', folder), { recursive: true, encoding: 'utf8' }))
    .filter((name) => name.endsWith('.bin'));

/** What the run's first rank reported about its splits. */
function describedSamples(updates: readonly RunUpdate[]): string {
  const events = updates.flatMap((update) => (update.type === 'event' ? [update.event] : []));
  return JSON.stringify(events.find(({ kind }) => kind === 'described')?.data.samples);
}

async function bothPids(run: WatchedRun): Promise<number[]> {
  await pidOnceTraining(run, 0);
  await pidOnceTraining(run, 1);
  return [0, 1].map((rank) => pidOf(run.updates, rank));
}

const large: RunConfigInput = { strategy: { kind: 'joint' }, batchSize: 64, hyperparameters: { samples: 3000 } };

describe('the transport of samples to ranks', () => {
  it.each<{ name: string; change: RunConfigInput }>([
    { name: 'members by themselves', change: {} },
    { name: 'members that train jointly on large batches, with a smaller last one', change: large },
  ])('does not affect losses and metrics of $name, bit for bit', async ({ change }) => {
    const runs = await Promise.all(
      modes.map((mode) => train(hub(), 'blobs', { ...config, ...change, data: { mode } })),
    );
    const [local, ...others] = runs;
    expect(local.record).toMatchObject({ status: 'finished' });
    expect(metricValues(local.folder, 'train/member_1_loss').length).toBeGreaterThan(4);
    expect(new Set(runs.map(({ updates }) => describedSamples(updates))).size).toBe(1);
    for (const { folder, record } of others) {
      expect(record).toMatchObject({ status: 'finished' });
      expect(await mergedMetrics(folder)).toEqual(await mergedMetrics(local.folder));
      expect(record.summary?.evaluatedSets).toEqual(local.record.summary?.evaluatedSets);
    }
  });

  it('stays separate per wave if members train in waves', async () => {
    const waves: RunConfigInput = { ...config, members: 3, placement: 'waves' };
    const [local, ...others] = await Promise.all(
      modes.map((mode) => train(hub(), 'blobs', { ...waves, data: { mode } })),
    );
    expect(local.record).toMatchObject({ status: 'finished', plan: [{ wave: 0 }, { wave: 0 }, { wave: 1 }] });
    // Each of 3 members takes 4 epochs of 3 steps.
    expect(metricValues(local.folder, 'train/member_2_loss')).toHaveLength(12);
    for (const { folder, record } of others) {
      expect(record).toMatchObject({ status: 'finished' });
      expect(await mergedMetrics(folder)).toEqual(await mergedMetrics(local.folder));
    }
  });
});

describe.skipIf(noMemoryFolder !== null)(`how a run uses /dev/shm${notRun(noMemoryFolder)}`, () => {
  // What a run that broadcasts leaves there is tested below, where its ranks die.
  it.each(['local', 'shared'] as const)(
    'contains no data once all ranks train, and nothing after the run (%s)',
    async (mode) => {
      const run = await startRun(hub(), 'blobs', { ...endless, data: { mode } });
      await bothPids(run);
      expect(dataInMemory()).toEqual([]);
      run.session.control({ action: 'stop' });
      expect(await run.ended).toMatchObject({ status: 'stopped' });
      expect(scratchFolders()).toEqual([]);
    },
  );

  it('shared data is mapped by all ranks, and by none once they were killed', async () => {
    const run = await startRun(hub(), 'blobs', {
      ...endless,
      onMemberLoss: { kind: 'stop' },
      data: { mode: 'shared' },
    });
    const pids = await bothPids(run);
    const mapped = pids.map((pid) => mappedData(readFileSync(`/proc/${pid}/maps`, 'utf8')));
    expect(mapped[0]).toHaveLength(1);
    expect(mapped[1]).toEqual(mapped[0]);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    expect(await run.ended).toMatchObject({ status: 'failed' });
    expect(pids.filter(isRunning)).toEqual([]);
    expect(scratchFolders()).toEqual([]);
  });
});

/** Inodes of data files that a process has mapped, from its `/proc/<pid>/maps`. */
function mappedData(maps: string): string[] {
  const inodes = [...maps.matchAll(/ (\d+) +\/.*\/data\.bin/g)].map((match) => match[1]);
  return [...new Set(inodes)];
}

describe('a rank that dies while batches are broadcast', () => {
  it.each([0, 1])('(rank %i) fails the run immediately, and is named', async (rank) => {
    const timeouts = { exitMs: 500 };
    const run = await startRun(hub(), 'blobs', {
      ...endless,
      timeouts,
      onMemberLoss: { kind: 'stop' },
      data: { mode: 'broadcast' },
    });
    const pids = await bothPids(run);
    expect(dataInMemory()).toEqual([]);
    process.kill(pids[rank], 'SIGKILL');
    const { status, error } = await run.ended;
    expect(status).toBe('failed');
    expect(error).toMatchObject({ rank });
    expect(error?.message).toContain(`Rank ${rank} was killed by SIGKILL.`);
    expect(pids.filter(isRunning)).toEqual([]);
    expect(scratchFolders()).toEqual([]);
  });
});
