import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { metricValues, readCheckpointRecord, resume, startRun, train, useHub } from '../harness.ts';

const { hub } = useHub();
const ranks = [0, 1];
const coupledRun: RunConfigInput = {
  members: 2,
  devices: 2,
  seed: 11,
  strategy: { kind: 'coupled', unlabelledBatchSize: 20, couplingWeight: 1 },
  hyperparameters: { unlabelled: 100 },
};

const finalHashes = (folder: string): string[] =>
  ranks.map((rank) => readCheckpointRecord(folder, rank, 'final').sha256);

describe('coupled members in separate workers', () => {
  it('report their distance from the ensemble, and send 2·B·K floats per step', async () => {
    const { folder, record } = await train(hub(), 'blobs', { ...coupledRun, maxEpochs: 2 });
    expect(record).toMatchObject({ status: 'finished', error: null });
    const bytes = 2 * 20 * 3 * Float32Array.BYTES_PER_ELEMENT;
    for (const rank of ranks) {
      expect(metricValues(folder, `train/member_${rank}_bytes_per_step`)).toEqual(Array(6).fill(String(bytes)));
      const losses = metricValues(folder, `train/member_${rank}_coupling_loss`).map(Number);
      expect(losses).toHaveLength(6);
      expect(Math.min(...losses)).toBeGreaterThan(0);
    }
  });

  it('give the same results after a stop and a resume', async () => {
    const run = await startRun(hub(), 'blobs', { ...coupledRun, maxEpochs: 100_000 });
    await run.until((update) => update.type === 'progress' && update.step > 10);
    run.session.control({ action: 'stop' });
    expect((await run.ended).status).toBe('stopped');
    const maxEpochs = Math.ceil(readCheckpointRecord(run.folder, 0, 'final').step / 3) + 2;
    expect((await resume(hub(), run.folder, { maxEpochs })).status).toBe('finished');
    const whole = await train(hub(), 'blobs', { ...coupledRun, maxEpochs });
    expect(finalHashes(run.folder)).toEqual(finalHashes(whole.folder));
  });

  it('fail before their first step if the project has no unlabelled samples', async () => {
    const { record } = await train(hub(), 'blobs', { ...coupledRun, hyperparameters: {} });
    expect(record.error?.message).toContain('The strategy coupled needs unlabelled samples');
  });
});
