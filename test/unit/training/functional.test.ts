import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { encodeSafetensors } from '../../../core/safetensors/safetensors.ts';
import { ensemblePredict, gatherEnsembleMetrics, loadEnsemble } from '../../../workers/session/functional.ts';
import { tf, type LayersModel } from '../../../workers/tensorflow/tf.ts';
import { createInMemoryGroup } from '../relay/in-memory-group.ts';
import { temporaryFolder } from './loop/fakes.ts';

beforeAll(async () => void (await startBackend('cpu')));

/** y = weight * x */
function line(weight = 0): LayersModel {
  const model = tf.sequential({
    layers: [tf.layers.dense({ units: 1, useBias: false, inputShape: [1], name: 'line' })],
  });
  tf.tidy(() => model.setWeights([tf.tensor([[weight]])]));
  return model;
}

async function writeLine(folder: string, path: string, weight: number, prefix = ''): Promise<void> {
  const data = Float32Array.of(weight);
  const kernel = { name: `${prefix}line/kernel`, dtype: 'F32' as const, shape: [1, 1], data };
  const slot = { name: 'optimizer/mean.0', dtype: 'F32' as const, shape: [1, 1], data };
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), encodeSafetensors(prefix === '' ? [kernel] : [kernel, slot]));
}

const valueAt1 = (model: LayersModel): number =>
  (model.predict(tf.ones([1, 1])) as ReturnType<typeof tf.ones>).dataSync()[0];

describe('loadEnsemble', () => {
  it('finds the files of a pattern and sorts them by rank numerically', async () => {
    const folder = await temporaryFolder();
    for (const rank of [10, 2, 0]) await writeLine(folder, `rank-${rank}/ensemble-best.safetensors`, rank);
    await writeLine(folder, 'rank-1/final.safetensors', 99);
    const models = await loadEnsemble(folder, line);
    expect(models.map(valueAt1)).toEqual([0, 2, 10]);
  });

  it('extracts the weights from a saved training state', async () => {
    const folder = await temporaryFolder();
    await writeLine(folder, 'state/rank-0/round-3.safetensors', 7, 'weights/');
    const models = await loadEnsemble(folder, line, 'state/rank-{rank}/round-3.safetensors');
    expect(models.map(valueAt1)).toEqual([7]);
  });

  it('treats everything but the rank in a pattern literally', async () => {
    const folder = await temporaryFolder();
    await writeLine(folder, 'aXb-0.safetensors', 1);
    await writeLine(folder, 'a.b-1.safetensors', 2);
    expect((await loadEnsemble(folder, line, 'a.b-{rank}.safetensors')).map(valueAt1)).toEqual([2]);
  });

  it('reports a pattern without matches and a checkpoint of another model', async () => {
    const folder = await temporaryFolder();
    await expect(loadEnsemble(folder, line)).rejects.toThrow(
      `No checkpoint in ${folder} matches "rank-{rank}/ensemble-best.safetensors". Pass the folder that holds them`,
    );
    await writeLine(folder, 'rank-0/ensemble-best.safetensors', 1, 'other_');
    await expect(loadEnsemble(folder, line)).rejects.toThrow(
      /rank-0\/ensemble-best\.safetensors does not fit this model/,
    );
  });
});

describe('ensemblePredict', () => {
  // Members predict 1, 2 and 6 at x = 1: mean 3, variance (4 + 1 + 9) / 2 = 7.
  const input = () => tf.tensor([[1], [2]]);

  it('returns mean and standard deviation over the members', () => {
    const { mean, std } = ensemblePredict([1, 2, 6].map(line), input());
    expect(mean.shape).toEqual([2, 1]);
    expect([...mean.dataSync()]).toEqual([3, 6]);
    expect(std.dataSync()[0]).toBeCloseTo(Math.sqrt(7), 6);
    expect(std.dataSync()[1]).toBeCloseTo(2 * Math.sqrt(7), 6);
  });

  it('returns a deviation of 0 for one member', () => {
    const { mean, std } = ensemblePredict([line(4)], input(), 'mean');
    expect([...mean.dataSync(), ...std.dataSync()]).toEqual([4, 8, 0, 0]);
  });

  it('returns the stack [M, B, ...] without aggregation', () => {
    const stack = ensemblePredict([1, 2, 6].map(line), input(), 'none');
    expect(stack.shape).toEqual([3, 2, 1]);
    expect([...stack.dataSync()]).toEqual([1, 2, 2, 4, 6, 12]);
  });

  it('leaks only its results', () => {
    const models = [1, 2].map(line);
    const x = input();
    ensemblePredict(models, x);
    const { numTensors } = tf.memory();
    ensemblePredict(models, x);
    expect(tf.memory().numTensors).toBe(numTensors + 2);
  });
});

describe('gatherEnsembleMetrics', () => {
  it("stacks every rank's tensor in rank order, and leaks nothing else", async () => {
    const { groups } = createInMemoryGroup([3, 8]);
    const own = [tf.tensor([[1, 2]]), tf.tensor([[3, NaN]])];
    const { numTensors } = tf.memory();
    const stacks = await Promise.all(groups.map((group, i) => gatherEnsembleMetrics(group, own[i])));
    for (const stack of stacks) {
      expect(stack.shape).toEqual([2, 1, 2]);
      expect([...stack.dataSync()]).toEqual([1, 2, 3, NaN]);
    }
    expect(tf.memory().numTensors).toBe(numTensors + 2);
  });
});
