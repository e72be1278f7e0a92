import type { WireArray } from './arrays.ts';
import type { CollectiveArray, CollectiveCall, ControlSignals } from './collectives.ts';

export type { WireArray } from './arrays.ts';

/** A message of `messages.ts` with its arrays. */
export interface MessageFrame {
  kind: 'message';
  message: unknown;
  arrays: WireArray[];
}

/** A rank's request to the hub's relay, or the relay's answer. */
export type CollectiveFrame = CollectiveRequest | CollectiveResult | CollectiveFailure;

/** `data` is null where the operation does not need this rank's values: a barrier, a broadcast from another root. */
export interface CollectiveRequest {
  kind: 'collective';
  phase: 'request';
  call: CollectiveCall;
  /** Of this rank. */
  signals: ControlSignals;
  data: CollectiveArray | null;
}

/** `call` repeats the request's, with the shape of `data`; `data` is null where the rank needs no values. */
export interface CollectiveResult {
  kind: 'collective';
  phase: 'result';
  call: CollectiveCall;
  /** Merged over all ranks. */
  signals: ControlSignals;
  data: CollectiveArray | null;
}

/** The group has failed, and with it every pending and every later call of this rank. */
export interface CollectiveFailure {
  kind: 'collective';
  phase: 'failure';
  reason: string;
}

export type Frame = MessageFrame | CollectiveFrame;
