import type { RunUpdate } from '../../../core/protocol/pages/run-updates.ts';
import type { RunFeed } from '../../hub/run-feed.ts';

/** The runs that one page watches. */
export class PageWatches {
  readonly #feed: RunFeed;
  readonly #send: (id: string, updates: RunUpdate[]) => void;
  /** The function that ends each watch, once the watch has started. */
  readonly #endings = new Map<string, Promise<() => void>>();

  constructor(feed: RunFeed, send: (id: string, updates: RunUpdate[]) => void) {
    this.#feed = feed;
    this.#send = send;
  }

  /** Starts to watch a run. A second call for the same run changes nothing. */
  async watch(id: string): Promise<void> {
    const ending = this.#endings.get(id) ?? this.#feed.watch(id, (updates) => this.#send(id, updates));
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
