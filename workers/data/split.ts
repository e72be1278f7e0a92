import type { Generator } from '../../core/random/generator.ts';
import { divideRows, type Fold, requireFold, type RowSplits } from './assign-rows.ts';
import { createSplits, subset } from './dataset.ts';
import type { Dataset, Splits } from './dataset.ts';

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
 * validation split, the rest the training split. With `fold`, every k-th sample of the permutation is the test split.
 * Ranks whose generators have the same seed and stream get the same splits. Groups of the data set lie in one split as
 * a whole, and all splits have its strata in the same proportions; their samples keep their order.
 *
 * @throws RangeError when a size is invalid or no training samples remain; Error for windows of a series that share
 * steps
 */
export function splitDataset(dataset: Dataset, sizes: SplitSizes, generator: Generator): Splits {
  const { train, validation, test } = rowsOf(dataset, sizes, generator);
  return createSplits({
    train: subset(dataset, train),
    validation: validation.length > 0 ? subset(dataset, validation) : undefined,
    test: test.length > 0 ? subset(dataset, test) : undefined,
  });
}

function rowsOf(dataset: Dataset, sizes: SplitSizes, generator: Generator): RowSplits {
  const { name, length, groups = null, strata = null } = dataset;
  refuseWindows(dataset);
  const { fold } = sizes;
  if (fold !== undefined) requireFold(fold);
  // Of the permutation, every k-th sample.
  const ofFold = fold === undefined ? 0 : Math.ceil((length - fold.index) / fold.count);
  const testCount = fold === undefined ? countOf(dataset, 'test', sizes.test) : ofFold;
  const heldOut = testCount + countOf(dataset, 'validation', sizes.validation);
  if (heldOut >= length) {
    throw new RangeError(
      `Splitting "${name}": ${heldOut} of its ${length} samples are held out, which leaves none to ` +
        'train on. Make the validation or test split smaller.',
    );
  }
  if (groups !== null || strata !== null) {
    const all = Int32Array.from({ length }, (_, row) => row);
    const counts = { test: testCount, validation: heldOut - testCount, fold };
    return divideRows(`"${name}"`, all, counts, { groups, strata }, generator);
  }
  const drawn = generator.permutation(length);
  const order = fold === undefined ? drawn : withFoldFirst(drawn, fold);
  return {
    train: order.subarray(heldOut),
    validation: order.subarray(testCount, heldOut),
    test: order.subarray(0, testCount),
  };
}

function refuseWindows({ name, spans }: Dataset): void {
  if (spans === undefined) return;
  throw new Error(
    `Splitting "${name}": its samples are windows of a series that share steps, so a random split would test a ` +
      'model on values that it was trained on. Use windowSplits.',
  );
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
