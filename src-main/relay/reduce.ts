import { createArray, dataTypeOf } from '../../protocol/arrays.ts';
import { type CollectiveArray, CollectiveError, type ReduceOperation } from '../../protocol/collectives.ts';

/**
 * Combines one array per rank, element by element, always in the order given: the result is the same to the last bit,
 * whoever came first.
 *
 * - `sum` of floats: added one rank after the other, rounded to the array's own type after every addition.
 * - `sum` of integers: exact, or a {@link CollectiveError} where it does not fit the type. Nothing wraps.
 * - `mean`: the sum of floats divided by the number of ranks. Integers are refused before they get here.
 * - `min`, `max`: NaN where any rank has NaN.
 */
export function reduceArrays(arrays: readonly CollectiveArray[], operation: ReduceOperation): CollectiveArray {
  if (operation === 'min' || operation === 'max') return extremes(arrays, Math[operation]);
  const first = arrays[0];
  if (first instanceof Int32Array || first instanceof Uint8Array) return sumIntegers(arrays, first.slice());
  const total = sumFloats(arrays, first.slice());
  if (operation === 'mean') {
    for (let index = 0; index < total.length; index += 1) total[index] /= arrays.length;
  }
  return total;
}

/** One array per rank, all of the same length, one after the other. */
export function concatenate(arrays: readonly CollectiveArray[]): CollectiveArray {
  const { length } = arrays[0];
  const whole = createArray(dataTypeOf(arrays[0]), length * arrays.length);
  for (const [index, array] of arrays.entries()) whole.set(array, index * length);
  return whole;
}

/** `total` starts as a copy of the first array. */
function sumFloats<T extends CollectiveArray>(arrays: readonly CollectiveArray[], total: T): T {
  for (const array of arrays.slice(1)) {
    for (let index = 0; index < total.length; index += 1) total[index] += array[index];
  }
  return total;
}

function sumIntegers(arrays: readonly CollectiveArray[], total: Int32Array | Uint8Array): Int32Array | Uint8Array {
  for (let index = 0; index < total.length; index += 1) {
    // A double holds any sum of 32-bit integers exactly; partial sums may leave the type as long as the whole fits.
    let sum = 0;
    for (const array of arrays) sum += array[index];
    total[index] = sum;
    if (total[index] !== sum) {
      throw new CollectiveError(
        `element ${index} adds up to ${sum}, which ${dataTypeOf(total)} cannot hold; send float64 instead`,
      );
    }
  }
  return total;
}

function extremes(
  arrays: readonly CollectiveArray[],
  extreme: (first: number, second: number) => number,
): CollectiveArray {
  const result = arrays[0].slice();
  for (const array of arrays.slice(1)) {
    for (let index = 0; index < result.length; index += 1) result[index] = extreme(result[index], array[index]);
  }
  return result;
}
