import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../core/protocol/run/config.ts';
import { readEvents } from '../../src-main/store/runs/run-folder.ts';
import { readCheckpoint } from '../../workers/checkpoints/checkpoint-store.ts';
import { mergedMetrics, metricValues, readCheckpointRecord, train, useHub } from './harness.ts';

const { hub } = useHub();
const config: RunConfigInput = { members: 2, devices: 2, seed: 3 };
const unobserved: RunConfigInput = { ...config, hyperparameters: { isObserved: false } };
const isOwn = (metric: string): boolean => /^(watcher|failing)\//.test(metric);

/** All metrics except those that callbacks logged. */
async function withoutOwn(folder: string) {
  const { values, ...positions } = await mergedMetrics(folder);
  return { ...positions, values: new Map([...values].filter(([name]) => !isOwn(name))) };
}

describe("a project's own callbacks", () => {
  it('see every step, epoch and evaluation of their rank, and log under their names', async () => {
    const { record, folder } = await train(hub(), 'observed', config);
    expect(record.status).toBe('finished');
    for (const rank of [0, 1]) {
      const logged = (name: string) => metricValues(folder, `watcher/member_${rank}_${name}`);
      // 90 samples, 30 per step, 3 epochs.
      expect(logged('step')).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9']);
      expect(logged('epoch')).toEqual(['0', '1', '2']);
      expect(logged('loss')).toEqual(metricValues(folder, `train/member_${rank}_loss`));
      expect(logged('nll')).toEqual(metricValues(folder, `val/member_${rank}_nll`));
      const { tensors } = await readCheckpoint(folder, rank, 'final');
      const squares = tensors.flatMap(({ data }) => [...data].map((value) => Number(value) ** 2));
      expect(Number(logged('norm').at(-1))).toBeCloseTo(Math.sqrt(squares.reduce((sum, square) => sum + square)), 5);
    }
    // The member's metric; one of three classes has a probability of at least 1/3.
    expect(record).toMatchObject({ config: { checkpoints: { mode: 'max' } }, metrics: [{ name: 'certainty' }] });
    expect(record.summary?.best?.metric).toBe('val/ens_certainty');
    const certainties = ['ens', 'member_0', 'member_1'].map((of) => metricValues(folder, `val/${of}_certainty`));
    for (const values of certainties) expect(values.every((value) => Number(value) >= 1 / 3)).toBe(true);
    expect(certainties.map(({ length }) => length)).toEqual([3, 3, 3]);
    const prints = (await readEvents(folder)).filter(({ kind }) => kind === 'print');
    expect(prints.map(({ rank, message }) => `${rank}: ${message}`).sort()).toEqual(
      [0, 1].flatMap((rank) => [0, 1, 2].map((epoch) => `${rank}: Epoch ${epoch} is over.`)),
    );
  });

  it('change nothing, whatever they do with their arguments', async () => {
    const [watched, alone] = [await train(hub(), 'observed', config), await train(hub(), 'observed', unobserved)];
    expect(await withoutOwn(watched.folder)).toEqual(await withoutOwn(alone.folder));
    expect([...(await mergedMetrics(watched.folder)).values.keys()].some(isOwn)).toBe(true);
    for (const name of ['final', 'ensemble-best']) {
      for (const rank of [0, 1]) {
        const hashes = [watched, alone].map(({ folder }) => readCheckpointRecord(folder, rank, name).sha256);
        expect(hashes[0]).toBe(hashes[1]);
      }
    }
  });

  it('are not called again after they fail, and nothing else is affected', async () => {
    const { record, folder } = await train(hub(), 'observed', config);
    expect(record.status).toBe('finished');
    expect(metricValues(folder, 'failing/member_1_seen')).toEqual(['1', '2', '3', '4']);
    const failures = (await readEvents(folder)).filter(({ kind }) => kind === 'callback-failed');
    expect(failures.map(({ rank, step }) => `rank ${rank}, step ${step}`).sort()).toEqual([
      'rank 0, step 4',
      'rank 1, step 4',
    ]);
    expect(failures[0].message).toMatch(
      /^The project's callback "failing" failed in onStepEnd and is called no more: I have seen enough\.\nat project\.ts:\d+:\d+\n/,
    );
  });

  it('change nothing for members that share a process or ranks that train one model', async () => {
    const packed: RunConfigInput = { members: 2, devices: 1, membersPerDevice: 2 };
    const parallel: RunConfigInput = { ...config, strategy: { kind: 'data-parallel' } };
    // Of 90 samples, ranks that train one model take 60 per step.
    for (const [shape, steps] of [
      [packed, 9],
      [parallel, 6],
    ] as const) {
      const watched = await train(hub(), 'observed', shape);
      const alone = await train(hub(), 'observed', { ...shape, hyperparameters: { isObserved: false } });
      expect(watched.record.status).toBe('finished');
      expect(await withoutOwn(watched.folder)).toEqual(await withoutOwn(alone.folder));
      expect(metricValues(watched.folder, 'watcher/member_0_step')).toHaveLength(steps);
    }
  });
});
