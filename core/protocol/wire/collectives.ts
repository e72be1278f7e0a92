import type { DataType } from './arrays.ts';
import type { CollectiveOperation, CollectiveStage } from './collective-stages.ts';

/** How the values of the ranks are combined. Their order is part of the wire format: append only. */
export const reduceOperations = ['sum', 'mean', 'min', 'max'] as const;
export type ReduceOperation = (typeof reduceOperations)[number];

/** An array that a collective takes or returns. */
export type CollectiveArray = Float32Array | Float64Array | Int32Array | Uint8Array | Uint16Array;

/** One rank's call. All ranks of a group must make the same call under the same sequence number. */
export interface CollectiveCall {
  operation: CollectiveOperation;
  /** Null for operations that do not reduce. */
  reduce: ReduceOperation | null;
  dataType: DataType;
  shape: readonly number[];
  /** The rank that sends its array in a broadcast; the other rank of a message; null for every other operation. */
  root: number | null;
  /** How many places down the order of ranks a shift moves arrays; null for every other operation. */
  distance: number | null;
  /** Counts the calls of a rank, or its messages to another rank, from 1. */
  sequence: number;
  /** Which of the collective's requests this is. */
  stage: CollectiveStage;
}

/**
 * Control signals that travel with every collective, without a separate message: each rank sends its own, the answer
 * brings the signals of all. Ranks that exchange at every step so act on a signal at the same step.
 */
export interface ControlSignals {
  /** How many controls of the hub (`Control` in `messages.ts`) the rank has received; over all ranks: the most. */
  controls: number;
  /** Whether training must end; over all ranks: whether any rank says so. */
  halt: boolean;
}

export const noSignals: ControlSignals = Object.freeze({ controls: 0, halt: false });

/** The signals of several ranks as one. */
export function mergeSignals(signals: readonly ControlSignals[]): ControlSignals {
  return { controls: Math.max(...signals.map(({ controls }) => controls)), halt: signals.some(({ halt }) => halt) };
}

/** A collective cannot complete: ranks disagree, one left or did not come in time. The whole group has failed. */
export class CollectiveError extends Error {
  override name = 'CollectiveError';
}

/** `all-reduce(sum) of float32[10], sequence number 7` */
export function describeCall(call: CollectiveCall): string {
  const root = call.root === null ? null : `${isMessage(call) ? 'rank' : 'root'} ${call.root}`;
  const detail = call.reduce ?? root ?? (call.distance === null ? null : `by ${call.distance}`);
  const name = detail === null ? call.operation : `${call.operation}(${detail})`;
  const operand =
    call.operation === 'barrier' || call.operation === 'receive'
      ? ''
      : ` of ${call.dataType}[${call.shape.join(', ')}]`;
  const stage = call.stage === 'whole' ? '' : ` (${call.stage})`;
  return `${name}${operand}, sequence number ${call.sequence}${stage}`;
}

/**
 * Whether a call is a message from one rank to another. Messages have separate sequence numbers for each pair of ranks.
 */
export function isMessage({ operation }: CollectiveCall): boolean {
  return operation === 'send' || operation === 'receive';
}

/** Whether two ranks made the same call. */
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

/** @throws RangeError for a call that no group of these ranks could answer */
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
      `A reduce-scatter gives every rank an equal slice, and ${length} elements do not divide by ${ranks.length} ` +
        'ranks; pad the array.',
    );
  }
}

/** Elements of an array of this shape. */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}
