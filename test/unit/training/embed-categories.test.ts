import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { embeddingWidth } from '../../../core/preprocessing/schema.ts';
import { parseTable } from '../../../workers/data/tables/read-table.ts';
import { tableSplits } from '../../../workers/data/tables/table-splits.ts';
import { embedCategories } from '../../../workers/data/tables/embed-categories.ts';
import { type Tensor, tf } from '../../../workers/tensorflow/tf.ts';

beforeAll(async () => void (await startBackend('cpu')));

describe('embeddings of categories', () => {
  it('are as long as fastai makes them, up to 50, where categories are many', () => {
    // round(1.6 * n ** 0.56), by hand.
    expect([2, 20, 21, 60, 400, 1000].map(embeddingWidth)).toEqual([null, null, 9, 16, 46, 50]);
  });

  it('take the row of the category, and leave other features where they are', () => {
    // A number, 21 categories, 3 categories and another number.
    const features = tf.input({ shape: [26] });
    const embedded = embedCategories(features, [
      { start: 1, count: 21 },
      { start: 22, count: 3 },
    ]);
    expect(embedded.shape).toEqual([null, 1 + 9 + 4]);
    const model = tf.model({ inputs: features, outputs: embedded });
    const [kernel] = model.getWeights().map((own) => own.arraySync() as number[][]);
    expect([kernel.length, kernel[0].length]).toEqual([21, 9]);
    const sample = Array.from({ length: 26 }, () => 0);
    Object.assign(sample, { 0: 0.5, [1 + 4]: 1, [22 + 2]: 1, 25: -2 });
    // A category that the training split lacks.
    const unseen = sample.with(1 + 4, 0);
    const [known, other] = (model.predict(tf.tensor([sample, unseen])) as Tensor).arraySync() as number[][];
    expect(known).toEqual([0.5, ...kernel[4], 0, 0, 1, -2]);
    expect(other).toEqual([0.5, ...kernel[4].map(() => 0), 0, 0, 1, -2]);
    expect(embedCategories(features, [{ start: 22, count: 3 }])).toBe(features);
  });

  it('are found where the features of a table have them', async () => {
    const rows = Array.from({ length: 60 }, (_, i) => `${i},${'abc'[i % 3]},${i % 7 ? i : ''},c${i % 12},${i % 2}`);
    const table = await parseTable(Buffer.from(['x,small,hole,large,y', ...rows].join('\n')), 'd.csv');
    const { train, validation } = tableSplits(table, { seed: 0, target: 'y', missing: 'impute', validation: 0.1 });
    // x, three categories, hole with its indicator, twelve categories.
    expect(train.featureShape).toEqual([18]);
    for (const split of [train, validation]) {
      expect(split?.categories).toEqual([
        { start: 1, count: 3 },
        { start: 6, count: 12 },
      ]);
    }
  });
});
