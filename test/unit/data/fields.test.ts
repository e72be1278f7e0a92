import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BroadcastBatches } from '../../../workers/data/batches.ts';
import { createDataset, createSplits, gatherBatch, subset, take } from '../../../workers/data/dataset.ts';
import { readSplits, writeSplits } from '../../../workers/data/share.ts';
import { partsOf } from '../../../workers/strategies/data-parallel/local-gradients.ts';
import { createInMemoryGroup } from '../relay/in-memory-group.ts';
import { temporaryFolder } from './temp-folder.ts';

const base = {
  name: 'patients',
  featureShape: [1],
  features: Float32Array.of(1, 2, 3),
  targets: Int32Array.of(0, 1, 1, 0, 1, 0),
  targetShape: [2],
  classCount: 2,
};
const extras = {
  extraInputs: { words: { shape: [2], values: Int32Array.of(1, 2, 3, 4, 5, 6) } },
  extraTargets: { age: { shape: [], values: Float32Array.of(30, 40, 50) } },
  weights: Float32Array.of(1, 0.5, 2),
  mask: Uint8Array.of(1, 0, 1, 1, 0, 1),
};
/** What batches leave out. */
const division = {
  groups: Int32Array.of(7, 8, 7),
  strata: Int32Array.of(0, 1, 1),
  spans: Int32Array.of(0, 3, 1, 4, 2, 5),
};
const patients = createDataset({ ...base, ...extras, ...division });

/** Samples 2 and 0, by hand. */
const twoAndNone = {
  features: Float32Array.of(3, 1),
  targets: Int32Array.of(1, 0, 0, 1),
  extraInputs: { words: { shape: [2], values: Int32Array.of(5, 6, 1, 2) } },
  extraTargets: { age: { shape: [], values: Float32Array.of(50, 30) } },
  weights: Float32Array.of(2, 1),
  mask: Uint8Array.of(0, 1, 1, 0),
};

describe('fields of a data set', () => {
  it('are gathered with their samples', () => {
    const batch = gatherBatch(patients, Int32Array.of(2, 0));
    expect(batch).toEqual({ ...twoAndNone, featureShape: [2, 1], targetShape: [2, 2] });
    expect(subset(patients, Int32Array.of(2, 0))).toMatchObject(twoAndNone);
    expect(subset(patients, Int32Array.of(2, 0))).toMatchObject({
      groups: Int32Array.of(7, 7),
      strata: Int32Array.of(1, 0),
      spans: Int32Array.of(2, 5, 0, 3),
    });
    expect(take(patients, 1).spans).toEqual(Int32Array.of(0, 3));
    expect(take(patients, 1).mask).toEqual(Uint8Array.of(1, 0));
  });

  it('have weights of the loss alone in batches, where they have such', () => {
    const weighed = createDataset({ ...base, ...extras, lossWeights: Float32Array.of(10, 20, 30) });
    expect(gatherBatch(weighed, Int32Array.of(2, 0)).weights).toEqual(Float32Array.of(30, 10));
    expect(subset(weighed, Int32Array.of(2, 0))).toMatchObject({
      weights: Float32Array.of(2, 1),
      lossWeights: Float32Array.of(30, 10),
    });
  });

  it('cross files between processes unchanged', async () => {
    const preprocessing = { format: 1 as const, steps: [{ kind: 'standardize' as const, mean: [1], std: [2] }] };
    const train = createDataset({ ...patients, lossWeights: Float32Array.of(1, 2, 3) });
    const splits = createSplits({ train, test: take(patients, 2), preprocessing });
    const file = join(await temporaryFolder(), 'splits.bin');
    await writeSplits(file, splits);
    expect(await readSplits(file)).toEqual(splits);
  });

  it('are broadcast with their batches', async () => {
    const { groups } = createInMemoryGroup([0, 1]);
    const sources = groups.map((group, i) => new BroadcastBatches(group, i === 0 ? patients : take(patients, 1), 3));
    const batches = await Promise.all(sources.map((source) => source.batch(Int32Array.of(2, 0))));
    for (const batch of batches) expect(batch).toMatchObject(twoAndNone);
  });

  it('are divided with the parts of a batch', () => {
    const [first, second] = partsOf(gatherBatch(patients, Int32Array.of(2, 0, 1)), 2);
    expect(first.batch).toMatchObject(twoAndNone);
    // Two of the four targets of two samples count, and both of the third sample.
    expect([first.counted, second.counted]).toEqual([1, 1]);
    expect(second.batch.extraTargets?.age.values).toEqual(Float32Array.of(40));
    expect(second.batch.weights).toEqual(Float32Array.of(0.5));
  });

  it.each([
    [{ weights: Float32Array.of(1) }, 'the weights do not fit: 1 weights for 3 samples'],
    [{ weights: Float32Array.of(1, -1, 1) }, 'sample 1 has -1. Give a finite weight of at least 0'],
    [{ mask: Uint8Array.of(1, 0, 1) }, 'a mask of 3 values does not fit 6 targets'],
    [{ mask: Uint8Array.of(1, 0, 1, 2, 0, 1) }, 'a mask of 6 values does not fit'],
    [{ extraInputs: { x: { shape: [2], values: new Float32Array(5) } } }, 'input "x" has 5 values'],
    [{ targetShape: [3] }, '6 targets for 3 samples of shape [3]'],
  ])('that do not fit are refused: %j', (fields, message) => {
    expect(() => createDataset({ ...base, ...fields })).toThrow(message);
  });

  it('must be the same in all splits', () => {
    const other = createDataset({ ...base, name: 'others' });
    expect(() => createSplits({ train: patients, validation: other })).toThrow(
      '"patients" has input words [2], target age [], "others" has no further fields',
    );
  });
});
