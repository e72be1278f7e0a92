import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import type { EvaluatedSet, RunRecord } from '../../../core/protocol/run/record.ts';
import { readEvents, readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import {
  killable,
  mergedMetrics,
  metricValues,
  pidOf,
  readCheckpointRecord,
  resume,
  startRun,
  train,
  trainOnce,
  untilStep,
  useHub,
  type WatchedRun,
} from '../harness.ts';

const { hub } = useHub();
const undisturbed = trainOnce();

const config: RunConfigInput = { ...killable, members: 3, maxEpochs: 100, onMemberLoss: { kind: 'continue' } };

/** Trains to the end, and kills a rank once it has done that many steps. */
async function trainWithout(lost: number, step: number, changes: RunConfigInput = {}): Promise<WatchedRun> {
  const run = await startRun(hub(), 'blobs', { ...config, ...changes });
  await untilStep(run, lost, step);
  process.kill(pidOf(run.updates, lost), 'SIGKILL');
  const record = await run.ended;
  expect(record).toMatchObject({ status: 'finished', lostMembers: [{ rank: lost }] });
  return run;
}

async function complete(folder: string, rank: number): Promise<RunRecord> {
  return (await hub().resume(folder, {}, () => {}, { rank })).run();
}

const hashOf = (folder: string, rank: number, name: string): string => readCheckpointRecord(folder, rank, name).sha256;

function setOf({ summary }: RunRecord, name: EvaluatedSet['set']): EvaluatedSet | undefined {
  return summary?.evaluatedSets.find(({ set }) => set === name);
}

describe('a missing member that is completed later', () => {
  it.each([0, 2])('(rank %i) has the bits of an uninterrupted run, and so has the evaluation of all', async (lost) => {
    const run = await trainWithout(lost, 100);
    const rows = metricValues(run.folder, 'val/ens_nll');
    const record = await complete(run.folder, lost);
    expect(record).toMatchObject({ status: 'finished', error: null });
    expect(record.lostMembers).toBeUndefined();
    expect(record.attempts.map(({ kind, completes, status }) => ({ kind, completes, status }))).toEqual([
      { kind: 'start', completes: undefined, status: 'finished' },
      { kind: 'resume', completes: [lost], status: 'finished' },
    ]);
    const whole = await undisturbed(hub(), 'blobs', config);
    for (const name of ['final', 'member-best']) {
      expect(hashOf(run.folder, lost, name)).toBe(hashOf(whole.folder, lost, name));
    }
    for (const name of ['final', 'member-best'] as const) {
      expect(setOf(record, name)).toEqual(setOf(whole.record, name));
    }
    // The others decided which evaluation was best, and the completed member has its weights of that one.
    const best = setOf(record, 'ensemble-best');
    expect(best?.ranks).toEqual([0, 1, 2]);
    expect(new Set(best?.epochs).size).toBe(1);
    // A point that came after the member's last state is in the file twice.
    const ownNll = async (folder: string) => (await mergedMetrics(folder)).values.get(`val/member_${lost}_nll`);
    expect(await ownNll(run.folder)).toEqual(await ownNll(whole.folder));
    // What was measured of the others stays.
    expect(metricValues(run.folder, 'val/ens_nll')).toEqual(rows);
    expect(metricValues(run.folder, 'train/loss')).toHaveLength(5);
    expect((await readEvents(run.folder)).map(({ kind }) => kind)).toContain('member-completed');
    // All can train on together.
    const longer = await resume(hub(), run.folder, { maxEpochs: 120 });
    expect(longer.status).toBe('finished');
    const further = await undisturbed(hub(), 'blobs', { ...config, maxEpochs: 120 });
    for (const rank of [0, 1, 2]) expect(hashOf(run.folder, rank, 'final')).toBe(hashOf(further.folder, rank, 'final'));
  });

  it('starts again if it was lost before its first state was saved', async () => {
    const changes: RunConfigInput = { checkpoints: { stateEverySeconds: 3600 } };
    const run = await trainWithout(1, 60, changes);
    expect((await complete(run.folder, 1)).lostMembers).toBeUndefined();
    const whole = await undisturbed(hub(), 'blobs', { ...config, ...changes });
    expect(hashOf(run.folder, 1, 'final')).toBe(hashOf(whole.folder, 1, 'final'));
  });

  it('ends where the others stopped early', async () => {
    // Nothing improves by 10, so all stop after the first evaluation (epoch 19) and 3 more. Each waits for the hub.
    const earlyStopping = { enabled: true, patience: 3, minDelta: 10 };
    const run = await trainWithout(1, 40, { earlyStopping });
    const record = await complete(run.folder, 1);
    expect(record).toMatchObject({ status: 'finished', summary: { stopReason: 'early-stopping' } });
    const finals = [0, 1, 2].map((rank) => readCheckpointRecord(run.folder, rank, 'final').step);
    expect(new Set(finals).size).toBe(1);
    expect(setOf(record, 'final')?.epochs).toEqual([79, 79, 79]);
  });

  it('is refused for another rank and with other options, and remains missing if its completion is stopped', async () => {
    const run = await trainWithout(1, 60);
    await expect(complete(run.folder, 2)).rejects.toThrow(/Rank 2 of the run .* is not missing: only 1 is\./);
    await expect(hub().resume(run.folder, { maxEpochs: 7 }, () => {}, { rank: 1 })).rejects.toThrow(
      'A missing member is completed with the options of its run, so maxEpochs cannot change. ' +
        'Omit it, or omit the rank.',
    );
    await expect(resume(hub(), run.folder)).rejects.toThrow(/To complete a missing member: tutti resume .* --rank 1/);
    const session = await hub().resume(
      run.folder,
      {},
      (update) => {
        if (update.type === 'progress') session.control({ action: 'stop' });
      },
      { rank: 1 },
    );
    const before = await readRunRecord(run.folder);
    expect(await session.run()).toMatchObject({
      status: 'finished',
      lostMembers: [{ rank: 1 }],
      summary: before.summary,
    });
    expect((await complete(run.folder, 1)).lostMembers).toBeUndefined();
  });
});

it('a completion that fails leaves the run as it was', async () => {
  const faulty = {
    members: 3,
    devices: 'cpu:0,1',
    onMemberLoss: config.onMemberLoss,
    hyperparameters: { fault: 'nan' },
  };
  const { record, folder } = await train(hub(), 'faulty', faulty);
  await expect(complete(folder, 1)).rejects.toThrow(
    /^The missing rank 1 could not be completed, and the run is as before: The training loss of rank 1 was not finite/,
  );
  const { status, lostMembers, summary, error } = await readRunRecord(folder);
  expect({ status, lostMembers, summary, error }).toEqual({
    status: 'finished',
    lostMembers: record.lostMembers,
    summary: record.summary,
    error: null,
  });
});
