import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { readMetrics } from '../metric-table.ts';
import { metricValues, readCheckpointRecord, startRun, train, useHub } from '../harness.ts';

const { hub } = useHub();
const three: RunConfigInput = { members: 3, devices: 'cpu:0', maxEpochs: 2, seed: 11 };

describe('three members in waves on one device', () => {
  it('train one after the other, and the ensemble is evaluated once its last member is there', async () => {
    const waves = await train(hub(), 'blobs', { ...three, placement: 'waves' });
    const shared = await train(hub(), 'blobs', three);
    expect(waves.record.status).toBe('finished');
    expect(waves.record.plan.map(({ wave }) => wave)).toEqual([0, 1, 2]);
    expect(shared.record.plan.map(({ wave }) => wave)).toEqual([0, 0, 0]);
    // The same members, and therefore the same ensemble, as in parallel.
    const [inWaves, together] = [await readMetrics(waves.folder), await readMetrics(shared.folder)];
    for (const name of ['val/ens_nll', 'val/disagreement', 'val/member_0_nll', 'val/member_2_nll']) {
      expect(inWaves.values.get(name), name).toEqual(together.values.get(name));
    }
    // Only the last wave has them, and each of its two evaluations once.
    expect(metricValues(waves.folder, 'val/ens_nll')).toHaveLength(2);
    for (const rank of [0, 1, 2]) {
      const hash = readCheckpointRecord(waves.folder, rank, 'final').sha256;
      expect(hash).toBe(readCheckpointRecord(shared.folder, rank, 'final').sha256);
    }
    const sets = waves.record.summary?.evaluatedSets ?? [];
    expect(sets.map(({ set }) => set)).toEqual(['final', 'member-best']);
    const sharedSets = shared.record.summary?.evaluatedSets.filter(({ set }) => set !== 'ensemble-best');
    expect(sets).toEqual(sharedSets);
    expect(waves.record.summary?.best).toEqual(shared.record.summary?.best);
  });

  it('are refused with joint early stopping', async () => {
    const config: RunConfigInput = { ...three, placement: 'waves', earlyStopping: { enabled: true } };
    await expect(startRun(hub(), 'blobs', config)).rejects.toThrow(
      'Joint early stopping needs all 3 ranks to train at the same time, but this plan has 3 ' +
        'waves. Use --placement share',
    );
  });
});

describe('three members on two devices', () => {
  it('train at the same time', async () => {
    const { record, folder } = await train(hub(), 'blobs', { ...three, devices: 'cpu:0,1' });
    expect(record.status).toBe('finished');
    expect(record.plan.map(({ device, wave }) => [device.id, wave])).toEqual([
      ['cpu:0', 0],
      ['cpu:1', 0],
      ['cpu:0', 0],
    ]);
    expect(metricValues(folder, 'val/ens_nll')).toHaveLength(2);
  });
});
