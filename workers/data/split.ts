import type { Generator } from '../random/generator.ts';
import { createSplits, subset } from './dataset.ts';
import type { Dataset, Splits } from './dataset.ts';

/** Sizes of the splits: below 1 a fraction of the data set, from 1 a count. `train` gets the rest. */
export interface SplitSizes {
  /** Size of the validation split; 0 by default. */
  validation?: number;
  /** Size of the test split; 0 by default. */
  test?: number;
}

/**
 * Splits a data set at random, without overlap: the permutation's first samples become the test split, the next the
 * validation split, the rest the training split. Ranks whose generators have the same seed and stream get the same splits.
 *
 * @throws RangeError when a size is invalid or no training samples remain.
 */
export function splitDataset(dataset: Dataset, sizes: SplitSizes, generator: Generator): Splits {
  const testCount = countOf(dataset, 'test', sizes.test);
  const heldOut = testCount + countOf(dataset, 'validation', sizes.validation);
  if (heldOut >= dataset.length) {
    throw new RangeError(
      `Splitting "${dataset.name}": ${heldOut} of its ${dataset.length} samples are held out, which leaves none to ` +
        'train on. Make the validation or test split smaller.',
    );
  }
  const order = generator.permutation(dataset.length);
  return createSplits({
    train: subset(dataset, order.subarray(heldOut)),
    validation: heldOut > testCount ? subset(dataset, order.subarray(testCount, heldOut)) : undefined,
    test: testCount > 0 ? subset(dataset, order.subarray(0, testCount)) : undefined,
  });
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
