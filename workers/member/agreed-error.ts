import type { Position } from './report.ts';

/** An error that all ranks throw at the same rendezvous, with the same message. */
export class AgreedError extends Error {
  /** The rank that caused it, and its position. */
  readonly at: Position & { rank: number };

  constructor(message: string, at: Position & { rank: number }) {
    super(message);
    this.at = at;
  }
}
