import { createArray, type DataType } from '../../../core/protocol/wire/arrays.ts';
import { type CollectiveArray, type CollectiveCall, elementCount } from '../../../core/protocol/wire/collectives.ts';
import type { Operands } from '../memory/memory-exchange.ts';
import type { Parts } from '../parts.ts';

/** First element of the i-th of `count` slices, as equal as possible, of an array of `length` elements. */
export const sliceStart = (length: number, count: number, index: number): number =>
  Math.floor((length * index) / count);

/** Elements from `start` to `end` of an array, which travel together. */
interface Chunk {
  start: number;
  end: number;
}

/** @param most elements of a chunk */
export function chunksOf(length: number, most: number): Chunk[] {
  return Array.from({ length: Math.ceil(length / most) }, (_, i) => ({
    start: i * most,
    end: Math.min((i + 1) * most, length),
  }));
}

/** What a call has, with a place for its result. `result` is null if that place was given. */
interface Arrays {
  data: Parts;
  into: Pick<Parts, 'set'>;
  dataType: DataType;
  /** Of one rank's array. */
  length: number;
  result: CollectiveArray | null;
}

/** What a call with an array has. @param times how many of the arrays the result holds */
export function requireArray(
  { operation, dataType, shape }: CollectiveCall,
  { data, into }: Operands,
  times = 1,
): Arrays {
  if (data === null) throw new TypeError(`${operation} was called without an array.`);
  const length = elementCount(shape);
  if (into !== null) return { data, into, dataType, length, result: null };
  const result = createArray(dataType, times * length);
  return { data, into: { set: (values, start) => result.set(values, start) }, dataType, length, result };
}
