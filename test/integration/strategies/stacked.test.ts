import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { readMetrics } from '../metric-table.ts';
import { decodeSafetensors } from '../../../core/safetensors/safetensors.ts';
import { pidOf, pidOnceTraining, readCheckpointRecord, resume, startRun, train, useHub } from '../harness.ts';

const { hub } = useHub();
/** Includes dropout, evaluates averaged weights and takes about 30 steps. */
const config: RunConfigInput = { members: 3, devices: 'cpu:0', maxEpochs: 10, seed: 5, ema: { decay: 0.8 } };

/** All values of a rank's checkpoint, concatenated. */
function weightsOf(folder: string, rank: number, name = 'final'): number[] {
  const file = readFileSync(join(folder, 'checkpoints', `rank-${rank}`, `${name}.safetensors`));
  return decodeSafetensors(file).tensors.flatMap(({ data }) => Array.from(data as Float32Array));
}

function expectCloseWeights(actual: readonly number[], expected: readonly number[]): void {
  // 2 inputs, 8 hidden units and 3 classes.
  expect(expected).toHaveLength(2 * 8 + 8 + 8 * 3 + 3);
  expect(actual).toEqual(expected.map((weight) => expect.closeTo(weight, 4)));
}

async function expectAlike(folder: string, other: string, names: RegExp): Promise<void> {
  const [actual, expected] = [await readMetrics(folder), await readMetrics(other)];
  expect([...actual.values.keys()].sort()).toEqual([...expected.values.keys()].sort());
  const compared = [...expected.values].filter(([name]) => names.test(name));
  expect(compared.map(([name]) => name)).toEqual(expect.arrayContaining(['train/member_2_loss', 'val/ens_nll']));
  for (const [name, values] of compared) {
    const own = actual.values.get(name) ?? [];
    expect(own.length, name).toBe(values.length);
    const gaps = values.map((value, i) => (Object.is(value, own[i]) ? 0 : Math.abs(value - own[i])));
    expect(Math.max(...gaps), name).toBeLessThan(1e-4);
  }
}

describe('three members in one worker', () => {
  it.each([
    // The cpu backend draws random numbers when it starts.
    'wasm' as const,
    'cpu' as const,
  ])('equal the members of three workers in losses, metrics and checkpoints (%s)', async (backend) => {
    const alone = await train(hub(), 'blobs', { ...config, backend });
    const stacked = await train(hub(), 'blobs', { ...config, backend, membersPerDevice: 3 });
    expect(stacked.record.error).toBeNull();
    expect(stacked.record.status).toBe('finished');
    expect(new Set([0, 1, 2].map((rank) => pidOf(stacked.updates, rank))).size).toBe(1);
    expect(new Set([0, 1, 2].map((rank) => pidOf(alone.updates, rank))).size).toBe(3);
    await expectAlike(stacked.folder, alone.folder, /_loss$|^train\/loss|_lr$|^val\//);
    for (const rank of [0, 1, 2]) {
      expectCloseWeights(weightsOf(stacked.folder, rank), weightsOf(alone.folder, rank));
    }
  });

  it('resume from the state of three workers, and three workers resume from theirs', async () => {
    const whole = await train(hub(), 'blobs', config);
    const [first, second] = [{ membersPerDevice: 1 }, { membersPerDevice: 3 }];
    for (const [before, after] of [
      [first, second],
      [second, first],
    ]) {
      const { folder } = await train(hub(), 'blobs', { ...config, ...before, maxEpochs: 4 });
      const record = await resume(hub(), folder, { ...after, maxEpochs: 10 });
      expect(record.status).toBe('finished');
      expect(record.plan.map(({ stack }) => stack)).toEqual(after === second ? [0, 0, 0] : Array(3).fill(undefined));
      await expectAlike(folder, whole.folder, /_loss$|^val\//);
      expectCloseWeights(weightsOf(folder, 2), weightsOf(whole.folder, 2));
    }
  });

  it('resume bit for bit', async () => {
    const stacked: RunConfigInput = { ...config, membersPerDevice: 3 };
    const whole = await train(hub(), 'blobs', stacked);
    const { folder } = await train(hub(), 'blobs', { ...stacked, maxEpochs: 4 });
    await resume(hub(), folder, { maxEpochs: 10 });
    for (const rank of [0, 1, 2]) expect(weightsOf(folder, rank)).toEqual(weightsOf(whole.folder, rank));
  });
});

describe('members of several workers', () => {
  it('share a device in waves, with the remainder in the last worker', async () => {
    const waves: RunConfigInput = { ...config, members: 5, membersPerDevice: 2, placement: 'waves', maxEpochs: 2 };
    const { record, updates } = await train(hub(), 'blobs', waves);
    expect(record.status).toBe('finished');
    expect(record.plan.map(({ wave, stack }) => [wave, stack])).toEqual([
      [0, 0],
      [0, 0],
      [1, 1],
      [1, 1],
      [2, 2],
    ]);
    expect(new Set(record.plan.map(({ rank }) => pidOf(updates, rank))).size).toBe(3);
    expect(record.summary?.evaluatedSets[0].members.nll).toHaveLength(5);
  });
});

describe('one of three members in a worker', () => {
  it('stops early, and the others continue', async () => {
    const overfitting: RunConfigInput = {
      ...config,
      maxEpochs: 60,
      optimizer: { kind: 'adam', learningRate: 0.05 },
      earlyStopping: { enabled: true, joint: false, patience: 4 },
      hyperparameters: { samples: 60, hiddenUnits: 64, spread: 4, dropout: 0 },
    };
    const alone = await train(hub(), 'blobs', overfitting);
    const stacked = await train(hub(), 'blobs', { ...overfitting, membersPerDevice: 3 });
    const epochsOf = ({ folder }: { folder: string }) =>
      [0, 1, 2].map((rank) => readCheckpointRecord(folder, rank, 'final').epoch);
    expect(new Set(epochsOf(alone)).size).toBeGreaterThan(1);
    expect(epochsOf(stacked)).toEqual(epochsOf(alone));
  });

  it('is stopped by the user, saves a checkpoint, and the others continue', async () => {
    const run = await startRun(hub(), 'blobs', { ...config, membersPerDevice: 3, maxEpochs: 1_000_000 });
    await run.until((update) => update.type === 'checkpoint');
    run.session.control({ action: 'stop-rank', rank: 1 });
    await run.until((update) => update.type === 'worker' && update.rank === 1 && update.state === 'standing-by');
    run.session.control({ action: 'pause' });
    for (const rank of [0, 2]) {
      await run.until((update) => update.type === 'worker' && update.rank === rank && update.state === 'paused');
    }
    run.session.control({ action: 'stop' });
    expect((await run.ended).status).toBe('stopped');
    const { step } = readCheckpointRecord(run.folder, 1, 'final');
    expect(step).toBeLessThan(readCheckpointRecord(run.folder, 0, 'final').step);
  });

  it('is lost together with the others when its process is killed, and the run reports it once', async () => {
    const endless = { ...config, membersPerDevice: 3, maxEpochs: 1_000_000, onMemberLoss: { kind: 'stop' } } as const;
    const run = await startRun(hub(), 'blobs', endless);
    process.kill(await pidOnceTraining(run, 1), 'SIGKILL');
    const { status, error } = await run.ended;
    expect(status).toBe('failed');
    expect(error?.message).toMatch(/^Rank 0 was killed by SIGKILL\. Rank 0 \(cpu:0, pid \d+,/);
  });
});

describe('an ensemble that cannot be stacked', () => {
  it('is refused: a strategy that exchanges', async () => {
    const joint: RunConfigInput = { ...config, membersPerDevice: 3, strategy: { kind: 'joint' } };
    await expect(startRun(hub(), 'blobs', joint)).rejects.toThrow(
      'With the strategy joint each rank has a separate worker, so 3 members cannot be one computation. Use ' +
        '--members-per-device 1.',
    );
  });
});
