import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { combineRuns } from '../../src-main/parts/combine-runs.ts';
import { openEnsemble } from '../../workers/index.ts';
import { startBackend } from '../../workers/backends/backend.ts';
import { largestError } from '../unit/exchange/layer-models.ts';
import { runOnnx } from '../unit/onnx/run-onnx.ts';
import { train, useHub } from './harness.ts';

const { hub, home } = useHub();
const features = Float32Array.of(0.5, 1, -2, 0.25, 3, -1);
const unroll = { method: 'unroll', rounds: 1, tolerance: 0, samples: 1, deviations: 2 } as const;

async function predicted(folder: string) {
  const ensemble = await openEnsemble(folder);
  const found = await ensemble.predict({ values: features });
  ensemble.dispose();
  return found;
}

it.each([
  ['repeat' as const, { members: 2, strategy: { kind: 'data-parallel' as const } }],
  ['mimo' as const, { members: 2 }],
])('a network with inner members trains, and becomes an ensemble of members: %s', async (kind, config) => {
  await startBackend('cpu');
  const trained = await train(hub(), 'inner-members', { ...config, maxEpochs: 3, hyperparameters: { kind } });
  expect(trained.record).toMatchObject({ status: 'finished', error: null });
  const { record, folder } = trained;
  const {
    record: made,
    folder: unrolled,
    combined,
  } = await combineRuns([{ record, folder }], { ...unroll, name: kind });
  const ranks = kind === 'mimo' ? 2 : 1;
  expect(combined.members).toHaveLength(3 * ranks);
  // The network's prediction is the mean of its members.
  expect(combined.losses.chosen).toBeCloseTo(combined.losses.all, 5);
  const [before, after] = [await predicted(folder), await predicted(unrolled)];
  expect(largestError(after.mean, before.mean)).toBeLessThan(1e-6);
  expect(new Set(Array.from({ length: 3 * ranks }, (_, m) => after.members.slice(9 * m, 9 * m + 9).join())).size).toBe(
    3 * ranks,
  );

  const to = join(home(), `exported-${kind}`);
  await expect(hub().export(record.id, { to: `${to}-inner`, zip: false, formats: ['tfjs'] })).rejects.toThrow(
    '--method unroll',
  );
  hub().index.upsert(made, unrolled);
  await hub().export(made.id, { to, zip: false, formats: ['onnx', 'pytorch', 'tfjs'] });
  const file = await readFile(join(to, 'onnx', 'ensemble.onnx'));
  const onnx = await runOnnx(file, { features: { shape: [3, 2], data: features } });
  expect(largestError(onnx.mean.data, before.mean)).toBeLessThan(1e-5);
});
