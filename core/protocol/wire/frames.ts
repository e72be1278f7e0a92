import type { WireArray } from './arrays.ts';
import type { CollectiveArray, CollectiveCall, ControlSignals } from './collectives.ts';

export type { WireArray } from './arrays.ts';

/** A message of `messages.ts` with the arrays that belong to it. */
export interface MessageFrame {
  kind: 'message';
  message: unknown;
  arrays: WireArray[];
}

/** What a rank asks of the hub's relay, and what the relay answers. */
export type CollectiveFrame = CollectiveRequest | CollectiveResult | CollectiveFailure;

/** `data` is null where the operation does not need this rank's values: a barrier, a broadcast from another root. */
export interface CollectiveRequest {
  kind: 'collective';
  phase: 'request';
  call: CollectiveCall;
  /** This rank's. */
  signals: ControlSignals;
  data: CollectiveArray | null;
}

/** `call` repeats the request's, with the shape of `data`; `data` is null where the rank has the values already. */
export interface CollectiveResult {
  kind: 'collective';
  phase: 'result';
  call: CollectiveCall;
  /** Those of all ranks. */
  signals: ControlSignals;
  data: CollectiveArray | null;
}

/** The group has failed: every pending and every later call of this rank does. */
export interface CollectiveFailure {
  kind: 'collective';
  phase: 'failure';
  reason: string;
}

export type Frame = MessageFrame | CollectiveFrame;
