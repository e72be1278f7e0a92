import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { openEnsemble } from '../../../workers/index.ts';
import { largestError } from '../../unit/exchange/layer-models.ts';
import { runOnnx } from '../../unit/onnx/run-onnx.ts';
import { expectPredictedAsTrained } from '../expect-predicted.ts';
import { metricValues, pidOf, readCheckpointRecord, resume, startRun, train, trainOnce, useHub } from '../harness.ts';

const { hub, home } = useHub();
beforeAll(async () => void (await startBackend('cpu')));

/** Members whose orders of samples differ. */
const config: RunConfigInput = {
  devices: 2,
  maxEpochs: 30,
  batchSize: 60,
  seed: 11,
  sampler: 'shuffled',
  hyperparameters: { dropout: 0, samples: 300 },
  evaluateEveryEpochs: 5,
  checkpoints: { stateEverySeconds: 0 },
};
const pipelined: RunConfigInput = {
  ...config,
  members: 4,
  strategy: { kind: 'pipeline', stages: 2, microBatches: 3 },
};
const features = Float32Array.of(0.5, 1, -2, 0.25, 3, -1);
const trainWhole = trainOnce();

async function predicted(folder: string) {
  const ensemble = await openEnsemble(folder);
  const found = await ensemble.predict({ values: features });
  ensemble.dispose();
  return found;
}

describe('an ensemble of two members of two stages each', () => {
  it('equals one of two processes in metrics, checkpoints, predictions and what it exports', async () => {
    const spread = await trainWhole(hub(), 'blobs', pipelined);
    const whole = await train(hub(), 'blobs', { ...config, members: 2 });
    expect(spread.record).toMatchObject({ status: 'finished', error: null });
    for (const name of [
      'train/member_0_loss',
      'train/member_1_loss',
      'val/ens_nll',
      'val/mutual_information',
      'val/member_0_nll',
      'val/member_1_nll',
    ]) {
      const [found, expected] = [spread, whole].map(({ folder }) => metricValues(folder, name).map(Number));
      expect(expected.length).toBeGreaterThan(5);
      expect(largestError(Float64Array.from(found), Float64Array.from(expected)), name).toBeLessThan(1e-5);
    }
    expect(await readdir(join(spread.folder, 'checkpoints'))).toEqual(['rank-0', 'rank-1']);
    const setsOf = ({ record }: typeof spread) => record.summary?.evaluatedSets ?? [];
    expect(setsOf(spread).map(({ set, ranks, epochs }) => [set, ranks, epochs])).toEqual(
      setsOf(whole).map(({ set, ranks, epochs }) => [set, ranks, epochs]),
    );
    await expectPredictedAsTrained(spread);
    const [found, expected] = [await predicted(spread.folder), await predicted(whole.folder)];
    expect(largestError(found.members, expected.members)).toBeLessThan(1e-5);
    const to = join(home(), 'exported');
    await hub().export(spread.record.id, { to, zip: false, formats: ['onnx'] });
    const onnx = await runOnnx(await readFile(join(to, 'onnx', 'ensemble.onnx')), {
      features: { shape: [3, 2], data: features },
    });
    expect(largestError(onnx.mean.data, found.mean)).toBeLessThan(1e-5);
  });

  it('restarts when a stage of one member is killed, stops and resumes, and ends with the same bits', async () => {
    const whole = await trainWhole(hub(), 'blobs', pipelined);
    const killed = await startRun(hub(), 'blobs', pipelined);
    await killed.until((update) => update.type === 'checkpoint' && update.record.epoch >= 4);
    process.kill(pidOf(killed.updates, 3), 'SIGKILL');
    await killed.until((update) => update.type === 'event' && update.event.kind === 'restarted');
    killed.session.control({ action: 'stop' });
    const { status, attempts } = await killed.ended;
    expect(status).toBe('stopped');
    expect(attempts).toHaveLength(2);
    expect((await resume(hub(), killed.folder)).status).toBe('finished');
    for (const rank of [0, 1]) {
      const shaOf = (folder: string) => readCheckpointRecord(folder, rank, 'final').sha256;
      expect(shaOf(killed.folder)).toBe(shaOf(whole.folder));
    }
  });

  it.each([
    ['a functional model with several outputs', 'heads'],
    ['a model with batch normalization', 'transfer'],
  ])('predicts new samples as it did while it trained: %s', async (_, project) => {
    const strategy = { kind: 'pipeline', microBatches: 2 } as const;
    const trained = await train(hub(), project, { devices: 2, members: 2, maxEpochs: 2, strategy });
    expect(trained.record).toMatchObject({ status: 'finished', error: null });
    await expectPredictedAsTrained(trained);
  });

  it('needs as many ranks for each member', async () => {
    await expect(train(hub(), 'blobs', { ...pipelined, members: 5 })).rejects.toThrow(
      '5 ranks cannot be shared by models of 2 stages each. Use --members 4 or 6, or --strategy.stages 0',
    );
  });
});
