import type { CollectiveFrame } from '../../protocol/frames.ts';

export interface RelayOptions {
  /** Global indices of the group's members. */
  ranks: readonly number[];
  /** Device, pid, state, epoch, step and last log lines of a rank, for messages. */
  describeRank(rank: number): string;
  /** How long the first rank to call may wait for the last; asked when a collective opens. */
  timeoutMs(): number;
  /** A collective timed out: these ranks never called it. The group has failed by then. */
  onStuck(missingRanks: number[], error: Error): void;
}

/** Completes the collectives of one group of ranks. No input or output of its own. */
export class Relay {
  constructor(options: RelayOptions) {
    void options;
  }

  /** Sets where answers for a rank go. */
  attach(rank: number, send: (frame: CollectiveFrame) => void): void {
    void rank;
    void send;
  }

  /** Takes a request of a rank. */
  receive(rank: number, frame: CollectiveFrame): void {
    void rank;
    void frame;
  }

  /** A rank is gone: every pending and every later collective of the others fails at once. */
  rankLeft(rank: number, reason: string): void {
    void rank;
    void reason;
  }
}
