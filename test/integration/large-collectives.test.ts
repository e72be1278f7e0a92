import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../core/protocol/run/config.ts';
import type { RunUpdate } from '../../core/protocol/pages/run-updates.ts';
import { isRunning, pidOf, startRun, useHub, type WatchedRun } from './harness.ts';
import { noMemoryFolder, notMapped, notRun } from '../environment/reasons.ts';

const { hub } = useHub();
const obstacle = noMemoryFolder ?? notMapped;
/** 120,003 weights: half a megabyte of gradients in every step. */
const config: RunConfigInput = {
  members: 2,
  devices: 'cpu:0,1',
  maxEpochs: 1_000_000,
  onMemberLoss: { kind: 'stop' },
  strategy: { kind: 'data-parallel' },
  hyperparameters: { hiddenUnits: 20_000 },
  timeouts: { collectiveMs: 1000, firstCollectiveMs: 20_000, exitMs: 500 },
};

async function trainingPids(run: WatchedRun): Promise<number[]> {
  await run.until((update) => update.type === 'progress' && update.step > 20);
  return [0, 1].map((rank) => pidOf(run.updates, rank));
}

const isReport = (update: RunUpdate): boolean => update.type === 'event' && update.event.kind === 'large-arrays';

describe.skipIf(obstacle !== null)(`ranks that wait in mapped memory${notRun(obstacle)}`, () => {
  it('report it, and leave no named file there', async () => {
    const run = await startRun(hub(), 'blobs', config);
    const report = await run.until(isReport);
    expect(report).toMatchObject({
      event: { rank: 0, message: 'Arrays of 256 KiB and more go through mapped memory.' },
    });
    await trainingPids(run);
    const folders = readdirSync('/dev/shm').filter((name) => name.startsWith(`tutti-${process.pid}-`));
    const files = folders.flatMap((folder) => readdirSync(join('/dev/shm', folder)));
    expect(files.filter((name) => name.endsWith('.bin'))).toEqual([]);
    run.session.control({ action: 'stop' });
    expect(await run.ended).toMatchObject({ status: 'stopped' });
  });

  it.each([0, 1])('fail as soon as rank %i is killed', async (rank) => {
    const run = await startRun(hub(), 'blobs', config);
    const pids = await trainingPids(run);
    process.kill(pids[rank], 'SIGKILL');
    const { status, error } = await run.ended;
    expect(status).toBe('failed');
    expect(error).toMatchObject({ rank });
    expect(error?.message).toContain(`Rank ${rank} was killed by SIGKILL.`);
    expect(pids.filter(isRunning)).toEqual([]);
  });

  it('name the missing rank', async () => {
    // Nearly everything that ranks exchange here is gradients.
    const run = await startRun(hub(), 'blobs', { ...config, batchSize: 1, evaluateEveryEpochs: 1_000_000 });
    const pids = await trainingPids(run);
    process.kill(pids[1], 'SIGSTOP');
    const { status, error } = await run.ended;
    expect(status).toBe('failed');
    expect(error).toMatchObject({ rank: 1 });
    // It may have stopped in the middle of one.
    const reason =
      /\(mapped\), timed out after 1000 ms: (called by rank 0, never by rank 1|begun by all, never ended by rank 1)\./;
    expect(error?.message).toMatch(reason);
    expect(pids.filter(isRunning)).toEqual([]);
  });
});
