import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { readMetrics } from '../metric-table.ts';
import { readEvents } from '../../../src-main/store/runs/run-folder.ts';
import {
  isRunning,
  killable,
  metricValues,
  pidOf,
  readCheckpointRecord,
  resume,
  startRun,
  train,
  trainOnce,
  untilStep,
  useHub,
} from '../harness.ts';

const { hub } = useHub();
const undisturbed = trainOnce();

const config: RunConfigInput = { ...killable, members: 3, maxEpochs: 100, onMemberLoss: { kind: 'continue' } };

function hashesOf(folder: string, ranks: readonly number[]): string[] {
  return ranks.map((rank) => readCheckpointRecord(folder, rank, 'final').sha256);
}

/** What must hold of a run that lost one of three members. */
async function expectOthers(record: RunRecord, folder: string, lost: number, how: string | RegExp): Promise<void> {
  const others = [0, 1, 2].filter((rank) => rank !== lost);
  expect(record).toMatchObject({ status: 'finished', error: null, lostMembers: [{ rank: lost, attempt: 1 }] });
  expect(record.lostMembers?.[0].how).toMatch(how);
  expect(record.attempts).toHaveLength(1);
  for (const set of record.summary?.evaluatedSets ?? []) {
    expect(set.ranks).toEqual(others);
    expect(set.epochs).toHaveLength(2);
    for (const values of Object.values(set.members)) expect(values.every(Number.isFinite)).toBe(true);
  }
  expect(record.summary?.evaluatedSets.map(({ set }) => set)).toEqual(['final', 'ensemble-best', 'member-best']);
  const [event] = (await readEvents(folder)).filter(({ kind }) => kind === 'member-lost');
  expect(event).toMatchObject({ rank: lost, data: { remaining: others } });
  // The ensemble of the others is evaluated to the end, and the log says of how many members.
  const { epoch, values } = await readMetrics(folder);
  expect(values.get('val/ens_nll')?.at(-1)).toBeTypeOf('number');
  expect(values.get('val/ens_nll')?.at(-1)).not.toBeNaN();
  expect(values.get('val/ens_members')?.at(-1)).toBe(2);
  expect(epoch.at(-1)).toBe(99);
}

describe('a run that continues when a member is lost', () => {
  it.each([0, 1])('trains the others as if nothing had happened after a SIGKILL of rank %i', async (lost) => {
    const run = await startRun(hub(), 'blobs', config);
    await untilStep(run, lost, 100);
    process.kill(pidOf(run.updates, lost), 'SIGKILL');
    const record = await run.ended;
    await expectOthers(record, run.folder, lost, /^was killed by SIGKILL$/);
    const others = [0, 1, 2].filter((rank) => rank !== lost);
    const whole = await undisturbed(hub(), 'blobs', config);
    expect(hashesOf(run.folder, others)).toEqual(hashesOf(whole.folder, others));
    // No evaluation is missing, although the rank that reports them was lost.
    expect(metricValues(run.folder, 'val/ens_nll')).toHaveLength(5);
    expect(metricValues(run.folder, 'train/loss')).toHaveLength(5);
  });

  it('does not wait longer than the limit for a rank that hangs', async () => {
    const timeouts = { collectiveMs: 1500, firstCollectiveMs: 20_000, exitMs: 500 };
    const run = await startRun(hub(), 'blobs', { ...config, timeouts });
    await untilStep(run, 2, 100);
    const pid = pidOf(run.updates, 2);
    process.kill(pid, 'SIGSTOP');
    await expectOthers(await run.ended, run.folder, 2, /^did not come to a collective in time$/);
    expect(isRunning(pid)).toBe(false);
  });

  it('resumes without the lost member', async () => {
    const run = await startRun(hub(), 'blobs', { ...config, maxEpochs: 60 });
    await untilStep(run, 1, 80);
    process.kill(pidOf(run.updates, 1), 'SIGKILL');
    expect((await run.ended).status).toBe('finished');
    const record = await resume(hub(), run.folder, { maxEpochs: 100 });
    expect(record).toMatchObject({ status: 'finished', lostMembers: [{ rank: 1 }] });
    expect(record.attempts).toHaveLength(2);
    for (const set of record.summary?.evaluatedSets ?? []) expect(set.ranks).toEqual([0, 2]);
    const whole = await undisturbed(hub(), 'blobs', config);
    expect(hashesOf(run.folder, [0, 2])).toEqual(hashesOf(whole.folder, [0, 2]));
  });
});

const faulty = (fault: string, more: RunConfigInput = {}): RunConfigInput => ({
  members: 3,
  devices: 'cpu:0,1',
  onMemberLoss: { kind: 'continue' },
  ...more,
  hyperparameters: { fault },
});

describe('the others continue without a member', () => {
  it('whose process exits', async () => {
    const { record } = await train(hub(), 'faulty', faulty('exit'));
    expect(record).toMatchObject({ status: 'finished', lostMembers: [{ rank: 1, how: 'exited with code 7' }] });
  });

  it('whose loss is not finite', async () => {
    const { record } = await train(hub(), 'faulty', faulty('nan'));
    expect(record).toMatchObject({ status: 'finished', lostMembers: [{ rank: 1, epoch: 1 }] });
    expect(record.lostMembers?.[0].how).toMatch(
      /^failed: The training loss of rank 1 was not finite at epoch 2, step 5\. It stopped/,
    );
  });

  it('but not before all were ready', async () => {
    const { record } = await train(hub(), 'faulty', faulty('model'));
    expect(record).toMatchObject({ status: 'failed', error: { rank: 1 } });
    expect(record.lostMembers).toBeUndefined();
  });
});

it('a strategy whose members need each other refuses the policy', async () => {
  await expect(startRun(hub(), 'blobs', { ...config, strategy: { kind: 'joint' } })).rejects.toThrow(
    'With the strategy joint every step needs all ranks, so the run cannot continue without a lost member. Use ' +
      '--on-member-loss restart or stop.',
  );
});
