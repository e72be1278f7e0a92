import { messageOf } from '../../../core/text/errors.ts';
import { withSearch } from '../../discovery/open-search.ts';

interface WorkParts {
  /** Labels to add first, by candidate. */
  labels: ReadonlyMap<number, number>;
  /** Called after each step. */
  tell: () => void;
}

/** The work of this process on a search, until its rounds are done, a person has to label, or it is stopped. */
export class SearchWork {
  /** Resolves with the number of new labels once the search is open. @throws if it cannot be opened */
  readonly opened: Promise<number>;
  /** Resolves when the work has ended: with the reason if it failed, else with null. */
  readonly ended: Promise<string | null>;
  readonly #stopping = new AbortController();

  constructor(folder: string, { labels, tell }: WorkParts) {
    const { signal } = this.#stopping;
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.opened = promise;
    // Not everybody waits for the search to open, and the same reason is in `ended`.
    promise.catch(() => undefined);
    this.ended = withSearch(folder, { signal, tell, currentSource: false }, async (session) => {
      resolve(await session.addLabels(labels));
      await session.run();
    }).then(
      () => null,
      (error: unknown) => {
        reject(error);
        return signal.aborted ? null : messageOf(error);
      },
    );
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.ended;
  }
}
