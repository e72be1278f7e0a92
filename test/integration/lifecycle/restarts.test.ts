import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import type { RunEvent, RunRecord } from '../../../core/protocol/run/record.ts';
import { readEvents } from '../../../src-main/store/runs/run-folder.ts';
import {
  killable,
  mergedMetrics,
  pidOf,
  pidOnceTraining,
  readCheckpointRecord,
  startRun,
  train,
  trainOnce,
  untilStep,
  useHub,
} from '../harness.ts';

const { hub } = useHub();
const undisturbed = trainOnce();

const config: RunConfigInput = { ...killable, members: 2, maxEpochs: 100 };

const restart = (maxRestarts: number) => ({ kind: 'restart', maxRestarts, backoffSeconds: 0 }) as const;

async function restartsIn(folder: string): Promise<RunEvent[]> {
  return (await readEvents(folder)).filter(({ kind }) => kind === 'restarted');
}

async function expectSameOutcome(one: string, other: string): Promise<void> {
  expect(await mergedMetrics(one)).toEqual(await mergedMetrics(other));
  for (const rank of [0, 1]) {
    const hashes = [one, other].map((folder) => readCheckpointRecord(folder, rank, 'final').sha256);
    expect(hashes[0]).toBe(hashes[1]);
  }
}

const statusesOf = ({ attempts }: RunRecord): string[] => attempts.map(({ status }) => status);

describe('a run with restarts', () => {
  it('continues from the last state after a SIGKILL, with the results of an uninterrupted run', async () => {
    const run = await startRun(hub(), 'blobs', { ...config, onMemberLoss: restart(1) });
    await untilStep(run, 1, 100);
    process.kill(pidOf(run.updates, 1), 'SIGKILL');
    const record = await run.ended;
    expect(record).toMatchObject({ status: 'finished', error: null });
    expect(statusesOf(record)).toEqual(['failed', 'finished']);
    const [event, ...more] = await restartsIn(run.folder);
    expect(more).toEqual([]);
    expect(event).toMatchObject({ attempt: 2, rank: null, data: { rank: 1, ranks: [0, 1] } });
    expect(event.step).toBeGreaterThan(0);
    expect(event.message).toBe(`Restart 1 of 1: rank 1 was lost; its wave's ranks continue from step ${event.step}.`);
    const lost = (await readEvents(run.folder)).find(({ kind }) => kind === 'lost');
    expect(lost).toMatchObject({ attempt: 1, rank: 1 });
    expect(lost?.message).toContain('Rank 1 was killed by SIGKILL.');
    for (const rank of [0, 1]) {
      expect(readFileSync(join(run.folder, 'logs', `rank-${rank}.log`), 'utf8')).toContain(`(hub) ${event.message}`);
    }
    const whole = await undisturbed(hub(), 'blobs', config);
    await expectSameOutcome(run.folder, whole.folder);
    expect(record.summary?.best).toEqual(whole.record.summary?.best);
  });

  it('starts over if no state was saved yet', async () => {
    const late = { ...config, maxEpochs: 150, checkpoints: { stateEverySeconds: 3600 } };
    const run = await startRun(hub(), 'blobs', { ...late, onMemberLoss: restart(3) });
    process.kill(await pidOnceTraining(run, 0), 'SIGKILL');
    expect(statusesOf(await run.ended)).toEqual(['failed', 'finished']);
    const [event] = await restartsIn(run.folder);
    expect(event).toMatchObject({ step: 0 });
    expect(event.message).toContain('rank 0 was lost');
    expect(event.message).toContain('start again, because no state was saved yet');
    await expectSameOutcome(run.folder, (await train(hub(), 'blobs', late)).folder);
  });

  it('continues after a rank hangs, also in lockstep', async () => {
    const joint: RunConfigInput = {
      ...config,
      strategy: { kind: 'joint' },
      timeouts: { collectiveMs: 3000, firstCollectiveMs: 20_000, exitMs: 500 },
    };
    const run = await startRun(hub(), 'blobs', { ...joint, onMemberLoss: restart(1) });
    await untilStep(run, 1, 100);
    process.kill(pidOf(run.updates, 1), 'SIGSTOP');
    expect(statusesOf(await run.ended)).toEqual(['failed', 'finished']);
    await expectSameOutcome(run.folder, (await train(hub(), 'blobs', joint)).folder);
  });

  it('restarts only the wave that lost a process', async () => {
    const waves: RunConfigInput = { ...config, devices: 'cpu:0', placement: 'waves' };
    const run = await startRun(hub(), 'blobs', { ...waves, onMemberLoss: restart(1) });
    await untilStep(run, 1, 100);
    process.kill(pidOf(run.updates, 1), 'SIGKILL');
    const record = await run.ended;
    expect(record.status).toBe('finished');
    const starts = run.updates.filter(
      (update) => update.type === 'worker' && update.rank === 0 && update.state === 'training',
    );
    const [event] = await restartsIn(run.folder);
    expect(event).toMatchObject({ step: null, data: { rank: 1, ranks: [1] } });
    const undisturbed = await train(hub(), 'blobs', waves);
    const startsThen = undisturbed.updates.filter(
      (update) => update.type === 'worker' && update.rank === 0 && update.state === 'training',
    );
    expect(starts).toHaveLength(startsThen.length);
    expect(record.summary?.metrics['val/ens_nll']).toBe(undisturbed.record.summary?.metrics['val/ens_nll']);
  });

  it('continues with all members of a lost process', async () => {
    const packed: RunConfigInput = { ...config, devices: 'cpu:0', membersPerDevice: 2 };
    const run = await startRun(hub(), 'blobs', { ...packed, onMemberLoss: restart(1) });
    await untilStep(run, 1, 100);
    process.kill(pidOf(run.updates, 1), 'SIGKILL');
    expect(statusesOf(await run.ended)).toEqual(['failed', 'finished']);
    expect(await restartsIn(run.folder)).toMatchObject([{ data: { ranks: [0, 1] } }]);
    await expectSameOutcome(run.folder, (await train(hub(), 'blobs', packed)).folder);
  });

  it('fails like any other once its restarts are used up', async () => {
    const faulty = { members: 2, devices: 'cpu:0,1', hyperparameters: { fault: 'exit' } };
    const { record, folder } = await train(hub(), 'faulty', { ...faulty, onMemberLoss: restart(2) });
    expect(statusesOf(record)).toEqual(['failed', 'failed', 'failed']);
    expect(record.error).toMatchObject({ rank: 1, device: 'cpu:1' });
    expect(record.error?.message).toContain('Rank 1 exited with code 7.');
    expect(await restartsIn(folder)).toHaveLength(2);
  });

  it('does not restart after an error of the project, which would recur', async () => {
    const faulty = { members: 2, devices: 'cpu:0,1', hyperparameters: { fault: 'model' } };
    const { record } = await train(hub(), 'faulty', { ...faulty, onMemberLoss: restart(2) });
    expect(statusesOf(record)).toEqual(['failed']);
  });
});
