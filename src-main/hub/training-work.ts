import type { RunUpdate } from '../../core/protocol/pages/run-updates.ts';
import { type RankCount, rankCount } from '../../core/protocol/run/strategies/ranks-and-members.ts';

/** How far a run of this process is. */
export interface TrainingRun {
  id: string;
  name: string;
  /**
   * The steps done, of the most that its ranks may do: from 0 to 1; null before its first step. Early stopping may end
   * it sooner.
   */
  share: number | null;
  isPaused: boolean;
}

interface Followed {
  name: string;
  ranks: RankCount;
  /** Steps done by each rank, as a part of the most that it may do. */
  readonly shares: Map<number, number>;
  readonly paused: Set<number>;
}

/**
 * What this process trains: it counts runs, sweeps, studies and searches, and follows the runs by their updates. While
 * the count is not zero, the app must not end by itself, nor the machine sleep.
 */
export class TrainingWork {
  readonly #runs = new Map<string, Followed>();
  readonly #listeners = new Set<() => void>();
  #count = 0;

  /** Number of runs, sweeps, studies and searches that go on. */
  get count(): number {
    return this.#count;
  }

  /** The runs that train now, in the order in which they began. Those of studies and searches are not among them. */
  get runs(): TrainingRun[] {
    return [...this.#runs].map(([id, { name, ranks, shares, paused }]) => {
      const done = [...shares.values()].reduce((sum, share) => sum + share, 0) / Math.max(1, ranks);
      return { id, name, share: shares.size === 0 ? null : Math.min(1, done), isPaused: paused.size > 0 };
    });
  }

  /** Counts a work that begins. @returns a function to call once, when it has ended */
  begin(): () => void {
    this.#changeCount(1);
    let isOpen = true;
    return () => {
      if (isOpen) this.#changeCount(-1);
      isOpen = false;
    };
  }

  /** Takes an update of a run. */
  take(id: string, update: RunUpdate): void {
    if (this.#apply(id, update)) this.#tell();
  }

  /**
   * Calls the listener after each change: several times a second while runs train.
   * @returns a function that unsubscribes
   */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @returns whether that changed what {@link runs} says */
  #apply(id: string, update: RunUpdate): boolean {
    const run = this.#runs.get(id);
    switch (update.type) {
      case 'ended':
        return this.#runs.delete(id);
      case 'record': {
        const { name, plan } = update.record;
        if (run === undefined)
          this.#runs.set(id, { name, ranks: rankCount(plan.length), shares: new Map(), paused: new Set() });
        else Object.assign(run, { name, ranks: rankCount(plan.length) });
        return true;
      }
      case 'progress':
        if (run === undefined || update.totalSteps <= 0) return false;
        run.shares.set(update.rank, Math.min(1, update.step / update.totalSteps));
        return true;
      case 'worker':
        if (update.state === 'paused') run?.paused.add(update.rank);
        else run?.paused.delete(update.rank);
        return run !== undefined;
      default:
        return false;
    }
  }

  #changeCount(by: number): void {
    this.#count += by;
    // A run whose files could not be written reports no end.
    if (this.#count === 0) this.#runs.clear();
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
