import { type DataType, dataTypeOf, dataTypes } from '../../core/protocol/wire/arrays.ts';
import type { Message } from './direct-messages.ts';

/** What precedes a message's array: number, data type, axes, sizes of the axes. A cache line. */
export const headBytes = 64;
export const headWords = headBytes / 4;
/** Messages with more axes have no room for their sizes. */
export const mostAxes = headWords - 3;

export interface MessageHead {
  number: number;
  dataType: DataType;
  shape: number[];
}

/** The words of a message's head. */
export function headOf({ data, shape }: Message, number: number): number[] {
  return [number, dataTypes.indexOf(dataTypeOf(data)), shape.length, ...shape];
}

/** @param words that {@link headOf} made */
export function readHead(words: Int32Array): MessageHead {
  const [number, type, axes] = words;
  return { number, dataType: dataTypes[type], shape: [...words.subarray(3, 3 + axes)] };
}
