import type { DataType } from './arrays.ts';

/** Operations in which every rank of a group takes part. Their order is part of the wire format: append only. */
export const collectiveOperations = [
  'all-gather',
  'all-reduce',
  'broadcast',
  'reduce-scatter',
  'barrier',
  'shift',
] as const;
export type CollectiveOperation = (typeof collectiveOperations)[number];

/** How values of the ranks become one. Their order is part of the wire format: append only. */
export const reduceOperations = ['sum', 'mean', 'min', 'max'] as const;
export type ReduceOperation = (typeof reduceOperations)[number];

/**
 * A collective is one request and its answer (`whole`), with the arrays in them; or, where ranks share memory, several requests under one
 * sequence number, by which each rank says how far it is: room for its array (`reserve`, which answers whether all found it), its array lies
 * there (`written`), its slice of the result does (`reduced`). Ranks that wait for each other in that memory tell the relay only that they
 * began (`mapped`), and, with their indices, which ranks one of them has waited for too long (`stuck`). Of small arrays in that memory the
 * relay hears only where a rank does not soon have those of all others (`awaited`), and when it has (`withdrawn`, which has no answer). Their
 * order is part of the wire format: append only.
 */
export const collectiveStages = [
  'whole',
  'reserve',
  'written',
  'reduced',
  'mapped',
  'stuck',
  'awaited',
  'withdrawn',
] as const;
export type CollectiveStage = (typeof collectiveStages)[number];

/** What a collective takes and gives. */
export type CollectiveArray = Float32Array | Float64Array | Int32Array | Uint8Array | Uint16Array;

/** What one rank asked for. All ranks of a group must ask for the same under the same sequence number. */
export interface CollectiveCall {
  operation: CollectiveOperation;
  /** Null for operations that do not reduce. */
  reduce: ReduceOperation | null;
  dataType: DataType;
  shape: readonly number[];
  /** The rank whose array a broadcast spreads; null for every other operation. */
  root: number | null;
  /** How many places down the order of ranks a shift moves arrays; null for every other operation. */
  distance: number | null;
  /** Counts the calls of a rank, from 1. */
  sequence: number;
  stage: CollectiveStage;
}

/**
 * What goes along with every collective, without a message of its own: each rank sends its wishes, the answer brings back
 * those of all. So ranks that exchange at every step can act on a wish at the same step.
 */
export interface Wishes {
  /** Controls of the hub (`Control` in `messages.ts`) that a rank has received; of all ranks: the most. */
  controls: number;
  /** Whether training must not go on; of all ranks: whether any rank says so. */
  halt: boolean;
}

export const noWishes: Wishes = Object.freeze({ controls: 0, halt: false });

/** The wishes of several ranks as one. */
export function uniteWishes(wishes: readonly Wishes[]): Wishes {
  return { controls: Math.max(...wishes.map(({ controls }) => controls)), halt: wishes.some(({ halt }) => halt) };
}

/** A collective that cannot complete: ranks disagree, one left or did not come in time. The whole group has failed. */
export class CollectiveError extends Error {
  override name = 'CollectiveError';
}

/** `all-reduce(sum) of float32[10], sequence number 7` */
export function describeCall(call: CollectiveCall): string {
  const root = call.root === null ? null : `root ${call.root}`;
  const detail = call.reduce ?? root ?? (call.distance === null ? null : `by ${call.distance}`);
  const name = detail === null ? call.operation : `${call.operation}(${detail})`;
  const operand = call.operation === 'barrier' ? '' : ` of ${call.dataType}[${call.shape.join(', ')}]`;
  const stage = call.stage === 'whole' ? '' : ` (${call.stage})`;
  return `${name}${operand}, sequence number ${call.sequence}${stage}`;
}

/** Whether the arrays of this request lie in memory that the ranks share, and its answer brings none. */
export function isInMemory({ stage }: CollectiveCall): boolean {
  return stage === 'written' || stage === 'reduced' || stage === 'mapped' || stage === 'awaited';
}

/** Whether the ranks will make another request under the same sequence number. */
export function goesOn({ stage, operation }: CollectiveCall): boolean {
  return stage === 'reserve' || (stage === 'written' && operation === 'all-reduce');
}

/** Whether two ranks asked for the same. */
export function isSameCall(first: CollectiveCall, second: CollectiveCall): boolean {
  return (
    first.sequence === second.sequence &&
    first.operation === second.operation &&
    first.reduce === second.reduce &&
    first.dataType === second.dataType &&
    first.root === second.root &&
    first.distance === second.distance &&
    first.stage === second.stage &&
    first.shape.length === second.shape.length &&
    first.shape.every((size, axis) => size === second.shape[axis])
  );
}

/** Throws a RangeError for what no group of these ranks could answer. */
export function checkCall(call: CollectiveCall, ranks: readonly number[]): void {
  const { operation, reduce, dataType, root, distance, shape } = call;
  if (reduce === 'mean' && (dataType === 'int32' || dataType === 'uint8')) {
    throw new RangeError(`The mean of ${dataType} values would have to be rounded; send float32 or float64 instead.`);
  }
  if (reduce !== null && reduce !== 'sum' && dataType === 'bfloat16') {
    throw new RangeError(`Values of bfloat16 can be summed, but there is no ${reduce} of them; send float32 instead.`);
  }
  if (operation === 'broadcast' && (root === null || !ranks.includes(root))) {
    throw new RangeError(`The root of a broadcast must be one of the ranks ${ranks.join(', ')}, not ${root}.`);
  }
  if (operation === 'shift' && !(Number.isInteger(distance) && Number(distance) > 0)) {
    throw new RangeError(`A shift moves arrays by 1 or more places, not by ${distance}.`);
  }
  const length = elementCount(shape);
  if (operation === 'reduce-scatter' && length % ranks.length !== 0) {
    throw new RangeError(
      `A reduce-scatter gives every rank an equal slice, and ${length} elements do not divide by ${ranks.length} ranks; ` +
        'pad the array.',
    );
  }
}

/** Elements of an array of this shape. */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}
