import type { CollectiveArray, CollectiveCall, ControlSignals } from '../../../core/protocol/wire/collectives.ts';

/** One rank's part of a call. */
export interface SlotContent {
  /** The same on all ranks that make the same call. */
  signature: number;
  signals: ControlSignals;
  /** Null where the rank has no array, or it is too large for a slot. */
  data: CollectiveArray | null;
  /** Whether the rank has an array. */
  sends: boolean;
}

/** Where small arrays of the ranks meet, without the hub: a few slots, used in turn. Calls are numbered from 1. */
export interface Slots {
  /** Bytes of the largest array. */
  readonly slotBytes: number;
  /** Whether a call can be put: all before it have been, and all ranks have read its slot. */
  isFree(call: number): boolean;
  /** Resolves once {@link isFree}, if all calls before have been put. */
  untilFree(call: number, isAwaited: () => void): Promise<void>;
  /** Puts this rank's part where the others can read it. */
  put(call: number, content: SlotContent): void;
  /** Whether all ranks have put their parts, now or within some microseconds. */
  fillsSoon(call: number): boolean;
  /**
   * Resolves once all ranks have put their parts.
   * @param isAwaited called every few milliseconds; ends the wait by throwing
   */
  untilFilled(call: number, isAwaited: () => void): Promise<void>;
  /** The parts of all ranks, in rank order. Arrays are views, for reading only, valid until {@link release}. */
  read(call: number, what: CollectiveCall): SlotContent[];
  /** Marks the call's slot as read by this rank. */
  release(call: number): void;
}
