import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCheckpoint } from '../../../workers/checkpoints/checkpoint-store.ts';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import {
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
const config: RunConfigInput = {
  devices: 2,
  maxEpochs: 25,
  batchSize: 50,
  seed: 11,
  hyperparameters: { dropout: 0 },
  evaluateEveryEpochs: 5,
};
const pipeline: RunConfigInput = { ...config, members: 2, strategy: { kind: 'pipeline', microBatches: 4 } };
const numbers = (folder: string, name: string): number[] => metricValues(folder, name).map(Number);

function expectClose(first: readonly number[], second: readonly number[]): void {
  expect(second.length).toBeGreaterThan(0);
  expect(first).toHaveLength(second.length);
  first.forEach((value, i) => expect(Math.abs(value - second[i])).toBeLessThan(1e-5));
}

describe('a model spread over two processes', () => {
  it('equals one process in losses and metrics over 50 steps, and saves whole checkpoints', async () => {
    const two = await train(hub(), 'blobs', pipeline);
    const one = await train(hub(), 'blobs', { ...config, members: 1, devices: 1, sampler: 'shared' });
    expect(two.record.status).toBe('finished');
    expect(numbers(two.folder, 'train/member_0_loss')).toHaveLength(50);
    for (const name of ['train/member_0_loss', 'val/ens_nll', 'val/ens_brier', 'val/member_0_nll']) {
      expectClose(numbers(two.folder, name), numbers(one.folder, name));
    }
    expect(existsSync(join(two.folder, 'checkpoints', 'rank-1'))).toBe(false);
    const [spread, whole] = await Promise.all([two, one].map(({ folder }) => readCheckpoint(folder, 0, 'final')));
    const placesOf = ({ tensors }: typeof whole) =>
      Object.fromEntries(tensors.map(({ name, shape }) => [name, [...shape]]));
    expect(placesOf(spread)).toEqual(placesOf(whole));
    const nll = (run: typeof two) => run.record.summary?.evaluatedSets.map(({ members }) => members.nll[0]) ?? [];
    expectClose(nll(two), nll(one));
    const told = two.updates.flatMap((update) => (update.type === 'event' ? [update.event] : []));
    expect(told.find(({ kind }) => kind === 'stages')?.message).toContain(
      'The model is spread over 2 ranks: rank 0 dense_0',
    );
  });

  const long: RunConfigInput = {
    ...pipeline,
    maxEpochs: 30,
    checkpoints: { stateEverySeconds: 0 },
    hyperparameters: { dropout: 0.2 },
    activationCheckpointing: 'layers',
  };
  const trainWhole = trainOnce();
  const final = (folder: string) => readCheckpointRecord(folder, 0, 'final').sha256;

  it('resumes after a stop with the bits of a run that never stopped, from the same cuts', async () => {
    const whole = await trainWhole(hub(), 'blobs', long);
    const stopped = await startRun(hub(), 'blobs', long);
    await untilStep(stopped, 1, 23);
    stopped.session.control({ action: 'stop' });
    expect((await stopped.ended).status).toBe('stopped');
    expect((await resume(hub(), stopped.folder)).status).toBe('finished');
    expect(final(stopped.folder)).toBe(final(whole.folder));
  });

  it('restarts from the last state when a stage is killed, and ends with the same bits', async () => {
    const whole = await trainWhole(hub(), 'blobs', long);
    const killed = await startRun(hub(), 'blobs', long);
    await killed.until((update) => update.type === 'checkpoint' && update.record.epoch >= 9);
    process.kill(pidOf(killed.updates, 1), 'SIGKILL');
    const { status, attempts } = await killed.ended;
    expect(status).toBe('finished');
    expect(attempts).toHaveLength(2);
    expect(final(killed.folder)).toBe(final(whole.folder));
  });

  it('starts from a checkpoint of one process, and one process from its own', async () => {
    const step: RunConfigInput = { ...config, maxEpochs: 1, evaluateEveryEpochs: 1, sampler: 'shared' };
    const source = await trainWhole(hub(), 'blobs', long);
    const checkpoint = join(source.folder, 'checkpoints', 'rank-0', 'final.safetensors');
    const warm: RunConfigInput = { ...step, warmStart: { checkpoint, noise: 0.01 } };
    const one = await train(hub(), 'blobs', { ...warm, members: 1, devices: 1 });
    const two = await train(hub(), 'blobs', { ...warm, members: 2, strategy: { kind: 'pipeline' } });
    expectClose(numbers(two.folder, 'train/member_0_loss'), numbers(one.folder, 'train/member_0_loss'));
    // A fork of its checkpoint starts with these weights, too.
    const planned = await hub().planFork(source.folder, {
      choice: { by: 'name', name: 'final' },
      overrides: { maxEpochs: 31 },
    });
    const forked = await hub()
      .fork(planned, () => {})
      .run();
    expect(forked.error).toBeNull();
    expect(forked.status).toBe('finished');
    expect(numbers(planned.folder, 'val/ens_nll').at(-1)).toBeCloseTo(
      numbers(source.folder, 'val/ens_nll').at(-1) ?? 0,
      1,
    );
  });

  it('is refused for orders of samples that differ from rank to rank', async () => {
    await expect(train(hub(), 'blobs', { ...pipeline, sampler: 'sharded' })).rejects.toThrow(
      'The strategy pipeline cannot train with --sampler sharded: it needs shared or shuffled or sequential',
    );
  });
});
