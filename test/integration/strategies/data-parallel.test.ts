import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import {
  metricColumns,
  metricValues,
  readCheckpointRecord,
  resume,
  startRun,
  train,
  trainOnce,
  useHub,
} from '../harness.ts';

const { hub } = useHub();
const undisturbed = trainOnce();
/** 90 samples for training: 3 batches of 30, or one step of 50 and one of 40. */
const config: RunConfigInput = {
  devices: 2,
  maxEpochs: 25,
  seed: 11,
  hyperparameters: { dropout: 0 },
  evaluateEveryEpochs: 5,
};
const parallel: RunConfigInput = { ...config, members: 2, batchSize: 25, strategy: { kind: 'data-parallel' } };

const numbers = (folder: string, name: string): number[] => metricValues(folder, name).map(Number);

function expectClose(first: readonly number[], second: readonly number[]): void {
  expect(second.length).toBeGreaterThan(0);
  expect(first).toHaveLength(second.length);
  first.forEach((value, i) => expect(Math.abs(value - second[i])).toBeLessThan(1e-5));
}

describe('data-parallel training in two processes', () => {
  it('equals the training of one model: losses and metrics of one worker with twice the batch over 50 steps', async () => {
    const two = await undisturbed(hub(), 'blobs', parallel);
    const one = await train(hub(), 'blobs', { ...config, members: 1, devices: 1, batchSize: 50, sampler: 'shared' });
    expect(two.record.status).toBe('finished');
    expect(numbers(two.folder, 'train/member_0_loss')).toHaveLength(50);
    expectClose(numbers(two.folder, 'train/member_0_loss'), numbers(one.folder, 'train/member_0_loss'));
    for (const name of ['val/ens_nll', 'val/ens_ece', 'val/ens_brier', 'val/member_0_nll']) {
      expectClose(numbers(two.folder, name), numbers(one.folder, name));
    }
    expect([...metricColumns(two.folder).keys()]).not.toContain('val/member_1_nll');
    // With the same effective batch, other ranks make the same updates.
    const changing = await train(hub(), 'blobs', { ...parallel, maxEpochs: 20 });
    const resumed = await resume(hub(), changing.folder, { members: 1, batchSize: 50, maxEpochs: 25 });
    expect(resumed.plan.map(({ rank }) => rank)).toEqual([0]);
    expectClose(numbers(changing.folder, 'train/member_0_loss'), numbers(one.folder, 'train/member_0_loss'));
    expectClose(numbers(changing.folder, 'val/ens_nll'), numbers(one.folder, 'val/ens_nll'));
    expect(
      (await hub().forkPoints(changing.folder)).flatMap(({ kind, step }) => (kind === 'state' ? [step] : [])),
    ).toEqual([40, 50]);
    expect(two.record.summary?.evaluatedSets.map(({ set, members }) => [set, members.nll.length])).toEqual([
      ['final', 1],
      ['ensemble-best', 1],
      ['member-best', 1],
    ]);
  });

  it('saves one set of checkpoints, of rank 0, and reports the effective batch size', async () => {
    const { folder, updates } = await undisturbed(hub(), 'blobs', parallel);
    expect(readCheckpointRecord(folder, 0, 'final').step).toBe(50);
    expect(existsSync(join(folder, 'checkpoints', 'rank-1'))).toBe(false);
    expect(existsSync(join(folder, 'predictions', 'validation', 'rank-1'))).toBe(false);
    const told = updates.flatMap((update) => (update.type === 'event' ? [update.event] : []));
    expect(told.filter(({ kind }) => kind === 'effective-batch').map(({ message }) => message)).toEqual([
      'Effective batch size 50: 25 samples × 2 ranks.',
    ]);
  });

  it('multiplies the learning rate by the number of ranks by the linear scaling rule', async () => {
    const scaled = { kind: 'data-parallel', learningRateScaling: 'linear' } as const;
    const optimizer = { kind: 'sgd', learningRate: 0.05 } as const;
    const [ruled, plain] = [
      await train(hub(), 'blobs', { ...parallel, maxEpochs: 3, strategy: scaled, optimizer }),
      await train(hub(), 'blobs', { ...parallel, maxEpochs: 3, optimizer: { ...optimizer, learningRate: 0.1 } }),
    ];
    expect(numbers(ruled.folder, 'train/member_0_lr')).toEqual(numbers(plain.folder, 'train/member_0_lr'));
    expect(numbers(ruled.folder, 'train/member_0_loss')).toEqual(numbers(plain.folder, 'train/member_0_loss'));
  });

  it('is refused in waves and for samples that the ranks do not split', async () => {
    await expect(train(hub(), 'blobs', { ...parallel, devices: 1, placement: 'waves' })).rejects.toThrow(
      'With the strategy data-parallel all 2 ranks train at the same time',
    );
    await expect(train(hub(), 'blobs', { ...parallel, sampler: 'shuffled' })).rejects.toThrow(
      'it needs sharded-uneven or sharded or sharded-drop',
    );
  });
});

describe('replicas', () => {
  it('end the run at the next rendezvous if one is changed, naming the rank, the weight and the step', async () => {
    const { record, folder } = await train(hub(), 'faulty', {
      members: 2,
      devices: 2,
      batchSize: 15,
      strategy: { kind: 'data-parallel' },
      hyperparameters: { fault: 'weight', atStep: 4 },
    });
    expect(record.status).toBe('failed');
    // Step 4, counted from 0, is in the second epoch of three steps.
    expect(record.error).toMatchObject({ rank: 1, epoch: 1, step: 6 });
    expect(record.error?.message).toContain(
      'differ at epoch 2, step 6: "dense_0/bias" of rank 1 is not that of rank 0.',
    );
    expect(numbers(folder, 'val/ens_nll')).toHaveLength(1);
  });

  it('stay equal if the loss does not depend on all weights and last batches are empty: example 00 in three processes', async () => {
    const { record } = await train(hub(), '../../../examples/00_heteroscedastic_regression', {
      members: 3,
      devices: 1,
      hyperparameters: { trained: 20 },
      batchSize: 2,
      sampler: 'sharded-uneven',
      strategy: { kind: 'data-parallel' },
      maxEpochs: 10,
      evaluateEveryEpochs: 5,
    });
    expect(record.error).toBeNull();
    expect(record.status).toBe('finished');
  });
});

describe.each([1, 2, 3])('sharded training in two processes, stage %i', (stage) => {
  const sharded: RunConfigInput = { ...parallel, strategy: { kind: 'sharded', stage, bucketBytes: 64 } };
  const packed = { kind: 'adam', statePrecision: 'bfloat16' } as const;

  it('gives the losses of data-parallel training', async () => {
    const split = await train(hub(), 'blobs', sharded);
    const whole = await undisturbed(hub(), 'blobs', parallel);
    expectClose(numbers(split.folder, 'train/member_0_loss'), numbers(whole.folder, 'train/member_0_loss'));
    expectClose(numbers(split.folder, 'val/ens_nll'), numbers(whole.folder, 'val/ens_nll'));
  });

  it('ends as a whole, and at once, if the system kills a process within an exchange', async () => {
    const { record } = await train(hub(), 'faulty', {
      members: 2,
      devices: 2,
      batchSize: 15,
      strategy: { kind: 'sharded', stage, bucketBytes: 64 },
      onMemberLoss: { kind: 'stop' },
      hyperparameters: { fault: 'kill', atStep: 4 },
    });
    expect(record).toMatchObject({ status: 'failed', attempts: [{ status: 'failed' }] });
    expect(record.error).toMatchObject({ rank: 1 });
    expect(record.error?.message).toContain('Rank 1 was killed by SIGKILL.');
  });

  it('ends with the weights of an uninterrupted run after a stop and a resume, also with packed state in files', async () => {
    const long: RunConfigInput = {
      ...sharded,
      maxEpochs: 40,
      checkpoints: { stateEverySeconds: 0 },
      optimizer: packed,
    };
    const through = await train(hub(), 'blobs', long);
    const strategy = { kind: 'sharded', stage, bucketBytes: 64, offload: 'optimizer' } as const;
    const stopped = await startRun(hub(), 'blobs', { ...long, strategy });
    // By the second evaluation the state of the first is on disk.
    await stopped.until((update) => update.type === 'checkpoint' && update.record.epoch >= 9);
    stopped.session.abort();
    await stopped.ended;
    await resume(hub(), stopped.folder);
    expect(readCheckpointRecord(stopped.folder, 0, 'final').sha256).toBe(
      readCheckpointRecord(through.folder, 0, 'final').sha256,
    );
  });
});
