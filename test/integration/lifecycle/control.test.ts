import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { readEvents, readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { readCheckpoint } from '../../../workers/checkpoints/checkpoint-store.ts';
import { metricValues, pidOnceTraining, readCheckpointRecord, resume, startRun, train, useHub } from '../harness.ts';

const { hub } = useHub();

/** One practically endless epoch, so that every end comes within it. */
const longEpoch: RunConfigInput = {
  members: 2,
  devices: 2,
  batchSize: 1,
  maxEpochs: 1,
  hyperparameters: { samples: 50_000 },
};

describe('a requested stop', () => {
  it('ends all ranks within an epoch, with a last evaluation and all checkpoints', async () => {
    const run = await startRun(hub(), 'blobs', longEpoch);
    await run.until((update) => update.type === 'progress' && update.step > 10);
    run.session.control({ action: 'stop' });
    const record = await run.ended;
    expect(record).toMatchObject({ status: 'stopped', error: null, summary: { stopReason: 'requested', epochs: 1 } });
    for (const rank of [0, 1]) {
      const { epoch, step } = readCheckpointRecord(run.folder, rank, 'final');
      expect(epoch).toBe(0);
      expect(step).toBeGreaterThan(10);
      expect(step).toBeLessThan(30_000);
    }
    expect(metricValues(run.folder, 'val/ens_nll')).toHaveLength(1);
    const sets = record.summary?.evaluatedSets.map(({ set }) => set);
    expect(sets).toEqual(['final', 'ensemble-best', 'member-best']);
    expect((await readEvents(run.folder)).filter(({ kind }) => kind === 'stop-requested')).toHaveLength(1);
  });

  it('also ends a run as stopped before any worker has connected', async () => {
    const run = await startRun(hub(), 'blobs', longEpoch);
    await run.until((update) => update.type === 'record' && update.record.status === 'running');
    run.session.control({ action: 'stop' });
    expect((await run.ended).status).toBe('stopped');
    expect(readCheckpointRecord(run.folder, 0, 'final').step).toBe(0);
  });

  it('leaves a run that can be resumed to its end', async () => {
    const run = await startRun(hub(), 'blobs', { members: 2, devices: 2, maxEpochs: 100_000 });
    await pidOnceTraining(run, 0);
    run.session.control({ action: 'stop' });
    const stopped = await run.ended;
    const epochs = (stopped.summary?.epochs ?? 0) + 2;
    const record = await resume(hub(), run.folder, { maxEpochs: epochs });
    expect(record).toMatchObject({
      status: 'finished',
      summary: { stopReason: 'completed', epochs, steps: 3 * epochs },
    });
    expect(record.attempts.map(({ status }) => status)).toEqual(['stopped', 'finished']);
  });
});

describe('an abort', () => {
  it('kills all workers immediately and leaves the run interrupted', async () => {
    const run = await startRun(hub(), 'blobs', longEpoch);
    await run.until((update) => update.type === 'progress');
    run.session.abort();
    expect(await run.ended).toMatchObject({ status: 'interrupted', error: null, summary: null, hub: null });
    expect((await readRunRecord(run.folder)).status).toBe('interrupted');
  });
});

describe('a requested checkpoint', () => {
  it('is saved under its name by all ranks, and training continues', async () => {
    const run = await startRun(hub(), 'blobs', longEpoch);
    await run.until((update) => update.type === 'progress');
    run.session.control({ action: 'checkpoint', name: 'before-lunch' });
    for (const rank of [0, 1]) {
      await run.until(
        (update) =>
          update.type === 'checkpoint' && update.record.rank === rank && update.record.name === 'before-lunch',
      );
      const { record, tensors } = await readCheckpoint(run.folder, rank, 'before-lunch');
      expect(tensors).toHaveLength(4);
      expect(record).toMatchObject({ rank, epoch: 0, monitor: null, score: null });
    }
    run.session.control({ action: 'stop' });
    await run.ended;
    const kept = readCheckpointRecord(run.folder, 0, 'before-lunch').step;
    expect(readCheckpointRecord(run.folder, 0, 'final').step).toBeGreaterThan(kept);
  });

  it('is refused if its name is not a valid file name, and training continues', async () => {
    const run = await startRun(hub(), 'blobs', longEpoch);
    await run.until((update) => update.type === 'progress');
    expect(() => run.session.control({ action: 'checkpoint', name: '../best' })).toThrow(
      '"../best" cannot name a checkpoint: use letters, digits, "-" and "_"',
    );
    run.session.control({ action: 'stop' });
    expect((await run.ended).status).toBe('stopped');
  });
});

describe('a loss that is not finite', () => {
  const config: RunConfigInput = { members: 2, devices: 'cpu:0,1', hyperparameters: { fault: 'nan' } };

  it('stops all ranks with an error that names rank, device and step, and saves nothing of that round', async () => {
    const { folder, record } = await train(hub(), 'faulty', config);
    expect(record).toMatchObject({ status: 'failed', error: { rank: 1, device: 'cpu:1', epoch: 1, step: 5 } });
    expect(record.error?.message).toContain('The training loss of rank 1 was not finite at epoch 2, step 5');
    expect(record.error?.message).toContain('--on-non-finite skip');
    expect(metricValues(folder, 'val/ens_nll')).toHaveLength(1);
    expect(readCheckpointRecord(folder, 1, 'member-best')).toMatchObject({ epoch: 0, step: 3 });
    const failures = (await readEvents(folder)).filter(({ kind, rank }) => kind === 'failed' && rank !== null);
    expect(failures.map(({ rank }) => rank)).toEqual([1]);
  });

  it('is skipped on request, with an event', async () => {
    const { folder, record } = await train(hub(), 'faulty', { ...config, onNonFinite: 'skip' });
    expect(record).toMatchObject({ status: 'finished', summary: { steps: 9 } });
    const [event, ...others] = (await readEvents(folder)).filter(({ kind }) => kind === 'non-finite-loss');
    expect(others).toEqual([]);
    expect(event).toMatchObject({ rank: 1, epoch: 1, step: 5 });
    expect(event.message).toBe('Loss was NaN first at step 5; 1 update(s) were skipped.');
    expect(metricValues(folder, 'train/member_1_loss')).toHaveLength(8);
    expect(metricValues(folder, 'train/member_0_loss')).toHaveLength(9);
    expect(metricValues(folder, 'val/member_1_nll').map(Number).every(Number.isFinite)).toBe(true);
  });
});
