import type { DataType } from './arrays.ts';

/** Operations in which every rank of a group takes part. Their order is part of the wire format: append only. */
export const collectiveOperations = ['all-gather', 'all-reduce', 'broadcast', 'reduce-scatter', 'barrier'] as const;
export type CollectiveOperation = (typeof collectiveOperations)[number];

/** How values of the ranks become one. Their order is part of the wire format: append only. */
export const reduceOperations = ['sum', 'mean', 'min', 'max'] as const;
export type ReduceOperation = (typeof reduceOperations)[number];

/** What a collective takes and gives. */
export type CollectiveArray = Float32Array | Float64Array | Int32Array | Uint8Array;

/** What one rank asked for. All ranks of a group must ask for the same under the same sequence number. */
export interface CollectiveCall {
  operation: CollectiveOperation;
  /** Null for operations that do not reduce. */
  reduce: ReduceOperation | null;
  dataType: DataType;
  shape: readonly number[];
  /** The rank whose array a broadcast spreads; null for every other operation. */
  root: number | null;
  /** Counts the calls of a rank, from 1. */
  sequence: number;
}

/** `all-reduce(sum) of float32[10], sequence number 7` */
export function describeCall(call: CollectiveCall): string {
  const detail = call.reduce ?? (call.root === null ? null : `root ${call.root}`);
  const name = detail === null ? call.operation : `${call.operation}(${detail})`;
  const operand = call.operation === 'barrier' ? '' : ` of ${call.dataType}[${call.shape.join(', ')}]`;
  return `${name}${operand}, sequence number ${call.sequence}`;
}

/** A collective that cannot complete: ranks disagree, one left or none answered in time. The whole group has failed. */
export class CollectiveError extends Error {
  override name = 'CollectiveError';
}
