import type { CollectiveArray } from '../../core/protocol/wire/collectives.ts';
import { type DataType, dataTypeOf, dataTypes } from '../../core/protocol/wire/arrays.ts';

/** An array from another rank. */
export interface Message {
  data: CollectiveArray;
  shape: readonly number[];
}

/**
 * How messages of single ranks travel without the hub. The messages of a pair of ranks are numbered from 1. Those that
 * find no room go through the hub, with their numbers, so that they keep their order.
 */
export interface DirectMessages {
  /** Puts a message where the other rank finds it. @returns whether there was room */
  put(message: Message, to: number, number: number): boolean;
  /**
   * Takes a message, if it has come. The numbers of one rank ascend. `by-hub`: a later one has come this way, so this
   * one goes through the hub.
   */
  take(from: number, number: number): Message | 'by-hub' | null;
  /** Moves messages on that {@link put} could only begin to send. @returns whether all have left this rank */
  move(): boolean;
  /** Lets the process sleep until a rank's message has come, at most for a few milliseconds. */
  sleep(from: number, number: number): void;
}

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
