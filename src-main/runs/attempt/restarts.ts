import type { MemberLossPolicy } from '../../../core/protocol/run/member-loss-config.ts';

const longestWaitMs = 60_000;

/** A restart that the policy allows. */
export interface Restart {
  /** Counts the restarts in a row without progress, from 1. */
  count: number;
  maxRestarts: number;
  waitMs: number;
}

/**
 * Limits the restarts of ranks that train together, as `max_restarts` of torchelastic does, but counts anew after
 * progress: once the ranks restart from a newer state than the last time. The first restart in a row comes at once,
 * later ones after a wait that doubles.
 */
export class Restarts {
  readonly #policy: MemberLossPolicy;
  #inARow = 0;
  /** The saved round from which the last restart continued; -1 for none. Undefined before the first restart. */
  #from: number | undefined;

  constructor(policy: MemberLossPolicy) {
    this.#policy = policy;
  }

  /**
   * Counts a restart.
   * @param round the newest saved round of all ranks; null: they start again
   * @returns null if the policy allows no restart, or no further one
   */
  next(round: number | null): Restart | null {
    if (this.#policy.kind !== 'restart') return null;
    const { maxRestarts, backoffSeconds } = this.#policy;
    const from = round ?? -1;
    if (this.#from !== undefined && from > this.#from) this.#inARow = 0;
    if (this.#inARow >= maxRestarts) return null;
    this.#from = from;
    this.#inARow += 1;
    const waitMs = this.#inARow === 1 ? 0 : Math.min(longestWaitMs, backoffSeconds * 1000 * 2 ** (this.#inARow - 2));
    return { count: this.#inARow, maxRestarts, waitMs };
  }
}
