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
  /** The signals of this rank. */
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

/**
 * The layout of frames on the wire: a head, a description, a payload of arrays. The receiver puts the payload into
 * separate memory, in which arrays start at multiples of 8 bytes, so that it can use them in place. All integers are
 * little-endian, reserved bytes are zero.
 *
 *     head, 12 bytes             u32 bytes of the description, u32 bytes of the payload
 *                                u8 kind (index in `frameKinds`), 3 reserved
 *
 *     a message's description    u32 number of arrays, 4 reserved
 *                                per array: u32 data type (index in `dataTypes`), u32 length
 *                                JSON text
 *     a message's payload        arrays, with padding between them
 *
 *     a request's or result's    u8 phase (index in `phases`), u8 operation, u8 reduce operation + 1 (0: none),
 *     description                u8 data type, u8 dimensions, u8 whether there is a payload, u8 halt signal,
 *                                u8 stage, u32 sequence number, i32 root (-1: none), u32 controls received,
 *                                u32 distance (0: none), u32 per dimension
 *     its payload                the array
 *
 *     a failure's description    u8 phase, 7 reserved, reason as UTF-8 text
 */
export const frameKinds = ['message', 'collective'] as const;
export const phases = ['request', 'result', 'failure'] as const;

export const headBytes = 12;
export const messageStartBytes = 8;
export const arrayEntryBytes = 8;
export const callStartBytes = 24;
export const failureStartBytes = 8;

/** 1 GiB, far above any real frame: a larger length means a broken stream. */
export const maximumFrameBytes = 2 ** 30;

export const align = (offset: number): number => Math.ceil(offset / 8) * 8;

/** Received bytes are not a frame. The rest of the stream is unusable. */
export class FrameError extends Error {
  override name = 'FrameError';
}

if (new Uint8Array(new Uint16Array([1]).buffer)[0] !== 1) {
  throw new Error('Frames hold arrays in memory order, little-endian, and this processor is big-endian.');
}
