import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Labels } from '../../../core/protocol/run/pool-task.ts';
import { createDataset, gatherBatch } from '../../../workers/data/dataset.ts';
import { readLabels, requirePool, withLabels } from '../../../workers/data/labels.ts';

const pool = createDataset({
  name: 'pool',
  featureShape: [2],
  features: Float32Array.from({ length: 10 }, (_, i) => i),
  targets: Int32Array.of(0, 0, 0, 0, 0),
  classCount: 3,
});

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-labels-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function write(labels: unknown): Promise<string> {
  const text = JSON.stringify(labels);
  await writeFile(join(folder, 'labels.json'), text);
  return createHash('sha256').update(text).digest('hex');
}

const labels: Labels = { format: 1, rows: [3, 0], targets: [2, 1], weights: [0.5, 1.5] };

test('labelled samples become the training split in their order, with their labels and weights; the pool stays whole', async () => {
  const splits = withLabels({ train: pool, test: pool }, await readLabels(folder, await write(labels)));
  expect([...splits.train.features]).toEqual([6, 7, 0, 1]);
  expect(splits.train.targets).toEqual(Int32Array.of(2, 1));
  expect(splits.train.lossWeights).toEqual(Float32Array.of(0.5, 1.5));
  expect(splits.unlabelled).toBe(pool);
  expect(splits.test).toBe(pool);
});

test('bytes become the numbers that each batch would scale them to; normalized ones stay bytes', () => {
  const bytes = createDataset({ ...pool, features: Uint8Array.of(0, 255, 51, 0, 0, 0, 255, 102, 0, 0) });
  const { train } = withLabels({ train: bytes }, labels);
  expect(train.features).toEqual(Float32Array.of(1, 102 / 255, 0, 1));
  const rows = Int32Array.of(3, 0);
  expect(gatherBatch(train, Int32Array.of(0, 1)).features).toEqual(gatherBatch(bytes, rows).features);
  const normalized = createDataset({ ...bytes, normalization: { mean: [0.5], std: [0.25] } });
  expect(withLabels({ train: normalized }, labels).train.features).toEqual(Uint8Array.of(255, 102, 0, 255));
});

test('values become float32, and a label need no weight', () => {
  const values = createDataset({ ...pool, targets: new Float32Array(5), classCount: undefined });
  const { train } = withLabels({ train: values }, { format: 1, rows: [4], targets: [-0.25] });
  expect(train.targets).toEqual(Float32Array.of(-0.25));
  expect(train.weights).toBeUndefined();
});

test('classes keep the numbers that they had when the search began', () => {
  const named = createDataset({ ...pool, targets: Int32Array.of(0, 1, 2, 1, 0), classNames: ['1', '2', '10'] });
  const old = { ...labels, classNames: ['1', '10', '2'] };
  const { train, unlabelled, test: tested } = withLabels({ train: named, test: named }, old);
  expect(train).toMatchObject({ classNames: ['1', '10', '2'], targets: Int32Array.of(2, 1) });
  for (const own of [unlabelled, tested]) {
    expect(own).toMatchObject({ classNames: ['1', '10', '2'], targets: Int32Array.of(0, 2, 1, 2, 0) });
  }
  expect(withLabels({ train: named }, { ...labels, classNames: ['1', '2', '10'] }).unlabelled).toBe(named);
  expect(withLabels({ train: pool }, old).unlabelled).toBe(pool);
  expect(() => withLabels({ train: named }, { ...labels, classNames: ['1', '2', '3'] })).toThrow(
    'other classes than the pool had when its search began: missing "3", new "10". Restore the data, or begin anew.',
  );
});

test('another file, a damaged one and labels that do not fit the pool are refused', async () => {
  const sha256 = await write(labels);
  await write({ ...labels, rows: [3, 1] });
  await expect(readLabels(folder, sha256)).rejects.toThrow('is not the file of labels that this run began with');
  const uneven = await write({ ...labels, targets: [1] });
  await expect(readLabels(folder, uneven)).rejects.toThrow('must have the same length');
  await rm(join(folder, 'labels.json'));
  await expect(readLabels(folder, sha256)).rejects.toThrow('Restore it');
  expect(() => withLabels({ train: pool }, { ...labels, rows: [5, 0] })).toThrow('Sample 5 of "pool" does not exist');
  expect(() => withLabels({ train: pool }, { ...labels, targets: [3, 0] })).toThrow(
    'labels are whole numbers from 0 to 2',
  );
  expect(() => withLabels({ train: pool, unlabelled: pool }, labels)).toThrow('Return them in the pool');
});

test('a pool has one target for each sample', () => {
  const two = createDataset({ ...pool, targets: new Float32Array(10), classCount: undefined });
  expect(() => requirePool(two)).toThrow('A sample of the pool "pool" has 2 targets');
});
