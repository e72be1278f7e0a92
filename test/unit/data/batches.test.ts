import { describe, expect, it } from 'vitest';
import { BroadcastBatches, ownBatches } from '../../../workers/data/batches.ts';
import { createDataset, type Dataset, gatherBatch, take } from '../../../workers/data/dataset.ts';
import { createInMemoryGroup, ranksOf } from '../relay/in-memory-group.ts';

const images = createDataset({
  name: 'images',
  featureShape: [3, 1, 1],
  features: Uint8Array.from({ length: 15 }, (_, i) => i * 17),
  targets: Int32Array.of(0, 1, 0, 1, 1),
  classCount: 2,
  normalization: { mean: [0.1], std: [1 / 3] },
});
const values = createDataset({
  name: 'values',
  featureShape: [2],
  features: Float32Array.from({ length: 10 }, (_, i) => i / 3),
  targets: Float32Array.from({ length: 10 }, (_, i) => -i / 7),
});
/** Larger than shared memory or one chunk can carry. */
const wide = createDataset({
  name: 'wide',
  featureShape: [100_001],
  features: new Uint8Array(400_004).fill(200),
  targets: Int32Array.of(0, 1, 2, 3),
  classCount: 4,
});

it('batches of own samples are gathered from them', () => {
  const source = ownBatches(images);
  expect(source).toMatchObject({ length: 5, isLockstep: false });
  expect(source.batch(Int32Array.of(4, 0))).toEqual(gatherBatch(images, Int32Array.of(4, 0)));
});

it('batches of own samples stay valid until the batch after the next', () => {
  const source = ownBatches(images);
  const first = source.batch(Int32Array.of(4, 0, 3));
  const second = source.batch(Int32Array.of(1));
  expect([first, second]).toEqual([gatherBatch(images, Int32Array.of(4, 0, 3)), gatherBatch(images, Int32Array.of(1))]);
  expect(source.batch(Int32Array.of(2, 2)).features.buffer).toBe(first.features.buffer);
});

describe.each<{ dataset: Dataset; batches: number[][] }>([
  { dataset: images, batches: [[4, 0, 3], [1], [2, 2]] },
  {
    dataset: values,
    batches: [
      [3, 1],
      [0, 2, 4, 1, 3],
    ],
  },
  { dataset: wide, batches: [[3, 0]] },
])('broadcast batches of $dataset.name', ({ dataset, batches }) => {
  it('are those of the first rank on all ranks, although the others have only one sample', async () => {
    const { groups } = createInMemoryGroup([2, 5, 7]);
    const sources = groups.map(
      (group) => new BroadcastBatches(group, group.rank === 2 ? dataset : take(dataset, 1), dataset.length),
    );
    for (const indices of batches.map((batch) => Int32Array.from(batch))) {
      const received = await Promise.all(sources.map((source) => source.batch(indices)));
      for (const batch of received) expect(batch).toEqual(gatherBatch(dataset, indices));
    }
  });
});

it('broadcast batches are refused if the first rank lacks a sample', async () => {
  const { groups } = createInMemoryGroup(ranksOf(2));
  const source = new BroadcastBatches(groups[0], images, 5);
  await expect(source.batch(Int32Array.of(5))).rejects.toThrow('Sample 5 of "images" does not exist');
});
