import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { metricValues, readCheckpointRecord, resume, startRun, train, useHub } from '../harness.ts';

const { hub } = useHub();
const jointRun: RunConfigInput = { members: 3, devices: 2, maxEpochs: 2, seed: 11, strategy: { kind: 'joint' } };
const ranks = [0, 1, 2];

const finalHashes = (folder: string): string[] =>
  ranks.map((rank) => readCheckpointRecord(folder, rank, 'final').sha256);

describe('members trained jointly in separate workers', () => {
  it('share one loss, exchange 2·B·K floats per step, and are evaluated as a product of experts', async () => {
    const { folder, record } = await train(hub(), 'blobs', jointRun);
    expect(record).toMatchObject({ status: 'finished', error: null, summary: { best: { metric: 'val/product_nll' } } });
    const losses = ranks.map((rank) => metricValues(folder, `train/member_${rank}_loss`));
    expect(losses[0]).toHaveLength(6);
    expect(losses[1]).toEqual(losses[0]);
    expect(losses[2]).toEqual(losses[0]);
    const bytes = 2 * 30 * 3 * Float32Array.BYTES_PER_ELEMENT;
    for (const rank of ranks) {
      expect(metricValues(folder, `train/member_${rank}_bytes_per_step`)).toEqual(Array(6).fill(String(bytes)));
    }
    expect(new Set(finalHashes(folder)).size).toBe(3);
  });

  it('give the same results, bit for bit, when logits are gathered instead', async () => {
    const reduced = await train(hub(), 'blobs', jointRun);
    const gathered = await train(hub(), 'blobs', { ...jointRun, strategy: { kind: 'joint', mode: 'gather' } });
    expect(finalHashes(gathered.folder)).toEqual(finalHashes(reduced.folder));
  });

  it.each(['reduce', 'tree', 'pipelined'] as const)(
    'stop at the same step and resume as if they had not stopped (%s)',
    async (mode) => {
      const config: RunConfigInput = { ...jointRun, strategy: { kind: 'joint', mode }, maxEpochs: 100_000 };
      const run = await startRun(hub(), 'blobs', config);
      await run.until((update) => update.type === 'progress' && update.step > 10);
      run.session.control({ action: 'stop' });
      expect((await run.ended).status).toBe('stopped');
      const steps = ranks.map((rank) => readCheckpointRecord(run.folder, rank, 'final').step);
      expect(new Set(steps).size).toBe(1);

      const maxEpochs = Math.ceil(steps[0] / 3) + 2;
      expect((await resume(hub(), run.folder, { maxEpochs })).status).toBe('finished');
      const whole = await train(hub(), 'blobs', { ...config, maxEpochs });
      expect(finalHashes(run.folder)).toEqual(finalHashes(whole.folder));
      const lastLosses = ({ folder }: { folder: string }) => metricValues(folder, 'train/member_0_loss').slice(-4);
      expect(lastLosses(run)).toHaveLength(4);
      expect(lastLosses(run)).toEqual(lastLosses(whole));
    },
  );
});
