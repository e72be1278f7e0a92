import type { Position } from './report.ts';

/** All ranks throw it at the same rendezvous, with the same words, also those that did nothing wrong. */
export class AgreedError extends Error {
  /** The rank that it is about, and where. */
  readonly at: Position & { rank: number };

  constructor(message: string, at: Position & { rank: number }) {
    super(message);
    this.at = at;
  }
}
