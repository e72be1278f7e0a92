import type { Generator } from '../../core/random/generator.ts';
import { createSplits, subset } from './dataset.ts';
import type { Dataset, Splits } from './dataset.ts';

/** One of k folds of the same size (±1), which partition the samples. */
export interface Fold {
  /** Number of folds, k. */
  count: number;
  /** Counted from 0. */
  index: number;
}

/** @throws Error if there is no such fold */
export function requireFold({ count, index }: Fold): void {
  const isFold = Number.isInteger(count) && count >= 2 && Number.isInteger(index) && index >= 0 && index < count;
  if (isFold) return;
  throw new Error(`There is no fold ${index} of ${count}: give at least 2 folds, and an index from 0 to count − 1.`);
}

/** Sizes of the splits: below 1 a fraction of the data set, from 1 a count. `train` gets the rest. */
export interface SplitSizes {
  /** Size of the validation split; 0 by default. */
  validation?: number;
  /** Size of the test split; 0 by default. */
  test?: number;
  /** Makes fold `index` (from 0) of `count` the test split, in place of `test`. */
  fold?: Fold | undefined;
}

/**
 * Splits a data set at random, without overlap: the permutation's first samples become the test split, the next the
 * validation split, the rest the training split. With `fold`, every k-th sample of the permutation is the test split. Ranks whose generators have the same seed and stream get the same splits.
 *
 * @throws RangeError when a size is invalid or no training samples remain.
 */
export function splitDataset(dataset: Dataset, sizes: SplitSizes, generator: Generator): Splits {
  const { fold } = sizes;
  if (fold !== undefined) requireFold(fold);
  // Of the permutation, every k-th sample.
  const ofFold = fold === undefined ? 0 : Math.ceil((dataset.length - fold.index) / fold.count);
  const testCount = fold === undefined ? countOf(dataset, 'test', sizes.test) : ofFold;
  const heldOut = testCount + countOf(dataset, 'validation', sizes.validation);
  if (heldOut >= dataset.length) {
    throw new RangeError(
      `Splitting "${dataset.name}": ${heldOut} of its ${dataset.length} samples are held out, which leaves none to ` +
        'train on. Make the validation or test split smaller.',
    );
  }
  const drawn = generator.permutation(dataset.length);
  const order = fold === undefined ? drawn : withFoldFirst(drawn, fold);
  return createSplits({
    train: subset(dataset, order.subarray(heldOut)),
    validation: heldOut > testCount ? subset(dataset, order.subarray(testCount, heldOut)) : undefined,
    test: testCount > 0 ? subset(dataset, order.subarray(0, testCount)) : undefined,
  });
}

function withFoldFirst(order: Int32Array, { count, index }: Fold): Int32Array {
  const isOfFold = (_: number, place: number): boolean => place % count === index;
  return Int32Array.from([...order.filter(isOfFold), ...order.filter((_, place) => place % count !== index)]);
}

function countOf(dataset: Dataset, split: string, size = 0): number {
  const count = size < 1 ? Math.round(size * dataset.length) : size;
  const asked = size !== 0;
  if (!(Number.isInteger(count) && count >= (asked ? 1 : 0))) {
    throw new RangeError(
      `Splitting "${dataset.name}": a ${split} split of ${size} is not possible with ${dataset.length} samples. ` +
        'Give a fraction below 1 that holds at least one sample, or a whole number of samples; leave it out for none.',
    );
  }
  return count;
}
