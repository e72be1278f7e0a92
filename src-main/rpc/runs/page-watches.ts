import type { RunUpdate } from '../../../core/protocol/pages/run-updates.ts';
import type { RunFeed } from '../../hub/run-feed.ts';

/** The runs that one page watches. */
export class PageWatches {
  readonly #feed: RunFeed;
  readonly #tell: (id: string, updates: RunUpdate[]) => void;
  /** What ends each watch, as soon as it has begun. */
  readonly #endings = new Map<string, Promise<() => void>>();

  constructor(feed: RunFeed, tell: (id: string, updates: RunUpdate[]) => void) {
    this.#feed = feed;
    this.#tell = tell;
  }

  /** Watching a run twice is watching it once. */
  async watch(id: string): Promise<void> {
    const ending = this.#endings.get(id) ?? this.#feed.watch(id, (updates) => this.#tell(id, updates));
    this.#endings.set(id, ending);
    try {
      await ending;
    } catch (error) {
      this.#endings.delete(id);
      throw error;
    }
  }

  async unwatch(id: string): Promise<void> {
    const ending = this.#endings.get(id);
    this.#endings.delete(id);
    (await ending)?.();
  }

  /** Ends all watches. */
  async close(): Promise<void> {
    await Promise.all([...this.#endings.keys()].map((id) => this.unwatch(id)));
  }
}
