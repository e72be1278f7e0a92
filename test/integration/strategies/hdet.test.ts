import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { metricColumns, metricValues, readCheckpointRecord, train, useHub } from '../harness.ts';

const { hub } = useHub();
const config: RunConfigInput = {
  members: 2,
  devices: 2,
  batchSize: 15,
  maxEpochs: 10,
  schedule: { kind: 'one-cycle' },
  optimizer: { kind: 'adam', learningRate: 0.02 },
};

describe('HDET in two processes', () => {
  it('without spread saves the checkpoints of data-parallel training, bit for bit', async () => {
    const divergent = await train(hub(), 'blobs', { ...config, strategy: { kind: 'hdet', spread: 0 } });
    const parallel = await train(hub(), 'blobs', { ...config, strategy: { kind: 'data-parallel' } });
    const hashOf = (folder: string): string => readCheckpointRecord(folder, 0, 'final').sha256;
    expect(divergent.record.status).toBe('finished');
    expect(hashOf(divergent.folder)).toBe(hashOf(parallel.folder));
  });

  it('reports rates by rank, distances, bases and velocities, and records its syncs', async () => {
    const { folder, record, updates } = await train(hub(), 'blobs', {
      ...config,
      strategy: { kind: 'hdet', averageEverySteps: 5 },
    });
    expect(record.status).toBe('finished');
    const rates = [0, 1].map((rank) => metricValues(folder, `train/member_${rank}_lr`).map(Number));
    expect(rates[0]).toHaveLength(30);
    // Before the peak, at step 8, rank 0 has 0.7 of the schedule and rank 1 has 1.3.
    rates[0].slice(0, 8).forEach((rate, step) => expect(rates[1][step] / rate).toBeCloseTo(1.3 / 0.7, 8));
    const names = [...metricColumns(folder).keys()];
    expect(names).toContain('train/member_0_weight_distance');
    expect(names).toContain('train/member_1_weight_distance');
    expect(metricValues(folder, 'train/base_learning_rate')).toHaveLength(5);
    expect(metricValues(folder, 'train/velocity_learning_rate')).toHaveLength(5);
    const syncs = updates.filter((update) => update.type === 'event' && update.event.kind === 'sync');
    expect(syncs).toHaveLength(6);
  });
});
