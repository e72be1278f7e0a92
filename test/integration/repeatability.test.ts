import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../core/protocol/run/config.ts';
import { samples } from '../samples/samples.ts';
import { mergedMetrics, metricValues, readCheckpointRecord, train, useHub } from './harness.ts';

const { hub } = useHub();
const shortRun: RunConfigInput = { members: 2, devices: 2, maxEpochs: 2, seed: 11 };

const finalHash = (folder: string, rank: number): string => readCheckpointRecord(folder, rank, 'final').sha256;

describe('the same configuration', () => {
  it('gives bit-identical metrics and checkpoints twice, and different members', async () => {
    const first = await train(hub(), 'blobs', shortRun);
    const second = await train(hub(), 'blobs', shortRun);
    expect(first.record.status).toBe('finished');
    expect(metricValues(first.folder, 'train/member_0_loss')).toHaveLength(6);
    expect(await mergedMetrics(first.folder)).toEqual(await mergedMetrics(second.folder));
    for (const rank of [0, 1]) expect(finalHash(first.folder, rank)).toBe(finalHash(second.folder, rank));
    expect(finalHash(first.folder, 0)).not.toBe(finalHash(first.folder, 1));
  });

  it('gives equal members with identical seeds', async () => {
    const { folder, record } = await train(hub(), 'blobs', { ...shortRun, identicalSeeds: true });
    expect(record.seeds).toEqual([11, 11]);
    expect(finalHash(folder, 0)).toBe(finalHash(folder, 1));
    expect(metricValues(folder, 'train/member_0_loss')).toEqual(metricValues(folder, 'train/member_1_loss'));
    expect(metricValues(folder, 'val/disagreement')).toEqual(['0', '0']);
  });
});

describe('one process equals N processes', () => {
  it('member r of an ensemble is, bit for bit, the single run with seed base + r', async () => {
    const ensemble = await train(hub(), 'blobs', shortRun);
    const single = await train(hub(), 'blobs', { ...shortRun, members: 1, devices: 1, seed: 12 });
    expect(finalHash(single.folder, 0)).toBe(finalHash(ensemble.folder, 1));
    expect(metricValues(single.folder, 'train/member_0_loss')).toEqual(
      metricValues(ensemble.folder, 'train/member_1_loss'),
    );
    expect(metricValues(single.folder, 'val/ens_nll')).toEqual(metricValues(ensemble.folder, 'val/member_1_nll'));
  });
});

describe('threads', () => {
  it('change no bit, in processes whose project may start no thread itself', async () => {
    process.env.TUTTI_DATA = samples;
    const run: RunConfigInput = { members: 1, devices: 'cpu:0', maxEpochs: 1, seed: 5 };
    const alone = await train(hub(), 'cnn', { ...run, threads: 1 });
    const shared = await train(hub(), 'cnn', { ...run, threads: 3 });
    expect([alone, shared].map(({ record }) => [record.status, record.plan[0].threads])).toEqual([
      ['finished', undefined],
      ['finished', 3],
    ]);
    expect(await mergedMetrics(shared.folder)).toEqual(await mergedMetrics(alone.folder));
    expect(finalHash(shared.folder, 0)).toBe(finalHash(alone.folder, 0));
  });
});
