import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDataset } from '../../../workers/data/dataset.ts';
import { splitDataset } from '../../../workers/data/split.ts';
import { windows } from '../../../workers/data/series/windows.ts';
import { Generator } from '../../../core/random/generator.ts';

/** Sample i has the feature i and the target -i. */
function counting(length: number) {
  const features = Float32Array.from({ length }, (_, i) => i);
  return createDataset({ name: 'counting', featureShape: [1], features, targets: features.map((value) => -value) });
}

describe('splitDataset', () => {
  it('treats numbers below 1 as fractions and from 1 on as counts, and leaves the rest for training', () => {
    const { train, validation, test } = splitDataset(
      counting(103),
      { validation: 0.1, test: 20 },
      new Generator(1, 'split'),
    );
    expect([train.length, validation?.length, test?.length]).toEqual([73, 10, 20]);
  });

  it('is the same for the same seed and different for another', () => {
    const split = (seed: number) =>
      splitDataset(counting(50), { test: 10 }, new Generator(seed, 'split')).test?.features;
    expect(split(7)).toEqual(split(7));
    expect(split(7)).not.toEqual(split(8));
  });

  it('neither loses nor repeats a sample, and keeps targets with their features', () => {
    const cases = fc.record({ length: fc.integer({ min: 3, max: 60 }), seed: fc.integer({ min: 0, max: 999 }) });
    fc.assert(
      fc.property(cases, ({ length, seed }) => {
        const sizes = { validation: 1, test: Math.ceil(length / 4) };
        const splits = splitDataset(counting(length), sizes, new Generator(seed, 'split'));
        const parts = [splits.train, splits.validation, splits.test];
        const features = parts.flatMap((part) => [...(part?.features ?? [])]);
        const targets = parts.flatMap((part) => [...(part?.targets ?? [])]);
        expect(features.toSorted((a, b) => a - b)).toEqual(Array.from({ length }, (_, i) => i));
        expect(targets).toEqual(features.map((value) => -value));
      }),
    );
  });

  it('partitions the samples into folds', () => {
    const folds = [0, 1, 2].map((index) =>
      splitDataset(counting(11), { validation: 2, fold: { count: 3, index } }, new Generator(1, 'split')),
    );
    expect(folds.map(({ train, validation, test }) => [train.length, validation?.length, test?.length])).toEqual([
      [5, 2, 4],
      [5, 2, 4],
      [6, 2, 3],
    ]);
    const tested = folds.flatMap(({ test }) => [...(test?.features ?? [])]);
    expect(tested.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 11 }, (_, i) => i));
    for (const { train, validation, test } of folds) {
      const all = [train, validation, test].flatMap((part) => [...(part?.features ?? [])]);
      expect(new Set(all).size).toBe(11);
    }
    const fold = { count: 3, index: 3 };
    expect(() => splitDataset(counting(11), { fold }, new Generator(1, 'split'))).toThrow('There is no fold 3 of 3');
  });

  const whole = (own: object, length = 12) => createDataset({ ...counting(length), ...own });
  const numbersIn = (numbers: Int32Array, part?: { features: ArrayLike<number> }) =>
    Array.from(part?.features ?? [], (row) => numbers[row]);

  it('keeps groups of the data set together, also in folds', () => {
    // Patients 0 to 3 with three samples each.
    const groups = Int32Array.from({ length: 12 }, (_, i) => i % 4);
    const { train, validation, test } = splitDataset(
      whole({ groups }),
      { validation: 3, test: 4 },
      new Generator(1, 'split'),
    );
    expect([train, validation, test].map((part) => part?.length)).toEqual([6, 3, 3]);
    const parts = [train, validation, test].map((part) => new Set(numbersIn(groups, part)));
    expect(parts.flatMap((own) => [...own]).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]);
    const folds = [0, 1].map((index) =>
      splitDataset(whole({ groups }), { fold: { count: 2, index } }, new Generator(1, 'split')),
    );
    expect(folds.map((fold) => new Set(numbersIn(groups, fold.test)).size)).toEqual([2, 2]);
    expect(folds[0].test?.length).toBe(6);
  });

  it('has the strata of the data set in the same proportions in all splits', () => {
    // Three of stratum 1 in twelve.
    const strata = Int32Array.from({ length: 12 }, (_, i) => Number(i % 4 === 0));
    const splits = splitDataset(whole({ strata }), { validation: 4, test: 4 }, new Generator(3, 'split'));
    for (const part of [splits.train, splits.validation, splits.test])
      expect(numbersIn(strata, part).toSorted((a, b) => a - b)).toEqual([0, 0, 0, 1]);
  });

  it('refuses to divide windows of a series that share steps by chance', () => {
    const overlapping = windows({ name: 'load', values: counting(20).features as Float32Array, length: 3 });
    expect(() => splitDataset(overlapping, { test: 4 }, new Generator(1, 'split'))).toThrow('Use windowSplits.');
    const apart = windows({ name: 'load', values: counting(20).features as Float32Array, length: 3, stride: 4 });
    expect(splitDataset(apart, { test: 2 }, new Generator(1, 'split')).test?.length).toBe(2);
    const large = whole({ groups: Int32Array.from({ length: 12 }, (_, i) => i % 4) });
    expect(() => splitDataset(large, { test: 2 }, new Generator(1, 'split'))).toThrow(
      'every group has more rows than the 2 of the test split',
    );
    const both = whole({ groups: new Int32Array(12), strata: new Int32Array(12) });
    expect(() => splitDataset(both, { test: 4 }, new Generator(1, 'split'))).toThrow('either stratified or grouped');
  });

  it('omits splits that were not requested', () => {
    const splits = splitDataset(counting(5), { test: 2 }, new Generator(1, 'split'));
    expect(splits.validation).toBeUndefined();
    expect(splits.train.length).toBe(3);
  });

  it.each([
    [{ test: 10 }, 'leaves none to train on'],
    [{ validation: 0.5, test: 0.5 }, 'leaves none to train on'],
    [{ test: -1 }, 'a test split of -1'],
    [{ validation: 0.01 }, 'a validation split of 0.01'],
    [{ test: 2.5 }, 'a test split of 2.5'],
  ])('refuses %j of ten samples', (sizes, message) => {
    expect(() => splitDataset(counting(10), sizes, new Generator(1, 'split'))).toThrow(message);
  });
});
