import { createArray, dataTypeOf, decodeBfloat16, encodeBfloat16, freeMemory } from './arrays.ts';
import { type CollectiveArray, CollectiveError, type ReduceOperation } from './collectives.ts';

/**
 * Combines one array per rank, element by element, always in the given order, so that the result has the same bits
 * whichever rank came first. The first array becomes the result.
 *
 * - `sum` of floats: added one rank after the other, rounded to the array's own type after every addition.
 * - `sum` of bfloat16: added in float32 one rank after the other, rounded to bfloat16 at the end. No other operation
 *   accepts bfloat16.
 * - `sum` of integers: exact, or a {@link CollectiveError} where it does not fit the type. Nothing wraps.
 * - `mean`: the sum of floats divided by the number of ranks. `checkCall` rejects integers.
 * - `min`, `max`: NaN where any rank has NaN.
 */
export function reduceArrays(arrays: readonly CollectiveArray[], operation: ReduceOperation): CollectiveArray {
  const [result, ...others] = arrays;
  if (result instanceof Uint16Array) {
    sumBfloat16(result, others as readonly Uint16Array[]);
  } else if (operation === 'min' || operation === 'max') {
    for (const array of others) keepExtremes(result, array, Math[operation]);
  } else if (result instanceof Int32Array || result instanceof Uint8Array) {
    sumIntegers(result, others);
  } else {
    for (const array of others) addFloats(result, array);
    if (operation === 'mean') divide(result, arrays.length);
  }
  return result;
}

/** Joins one array per rank, all of the same length. Frees the arrays. */
export function concatenate(arrays: readonly CollectiveArray[]): CollectiveArray {
  const { length } = arrays[0];
  const whole = createArray(dataTypeOf(arrays[0]), length * arrays.length);
  for (const [index, array] of arrays.entries()) {
    whole.set(array, index * length);
    freeMemory(array);
  }
  return whole;
}

/** Four elements per iteration: V8 compiles the plain loop to code that takes 1.1 ms instead of 0.25 ms for 1 MB. */
function addFloats(result: CollectiveArray, array: CollectiveArray): void {
  const { length } = result;
  const end = length - (length % 4);
  for (let index = 0; index < end; index += 4) {
    result[index] += array[index];
    result[index + 1] += array[index + 1];
    result[index + 2] += array[index + 2];
    result[index + 3] += array[index + 3];
  }
  for (let index = end; index < length; index += 1) result[index] += array[index];
}

function sumBfloat16(result: Uint16Array, others: readonly Uint16Array[]): void {
  const sums = decodeBfloat16(result);
  for (const other of others) addFloats(sums, decodeBfloat16(other));
  result.set(encodeBfloat16(sums));
}

function divide(result: CollectiveArray, divisor: number): void {
  const { length } = result;
  for (let index = 0; index < length; index += 1) result[index] /= divisor;
}

function sumIntegers(result: Int32Array | Uint8Array, others: readonly CollectiveArray[]): void {
  const { length } = result;
  for (let index = 0; index < length; index += 1) {
    // A double holds any sum of 32-bit integers exactly. Partial sums may exceed the type if the total fits.
    let sum = result[index];
    for (const array of others) sum += array[index];
    result[index] = sum;
    if (result[index] !== sum) {
      throw new CollectiveError(
        `Element ${index} adds up to ${sum}, which ${dataTypeOf(result)} cannot hold; send float64 instead.`,
      );
    }
  }
}

function keepExtremes(
  result: CollectiveArray,
  array: CollectiveArray,
  extreme: (first: number, second: number) => number,
): void {
  const { length } = result;
  for (let index = 0; index < length; index += 1) result[index] = extreme(result[index], array[index]);
}
