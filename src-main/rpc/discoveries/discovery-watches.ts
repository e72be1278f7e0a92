import { type FolderWatch, watchFolder } from '../../store/watch-folder.ts';
import { folderOf } from './kept-search.ts';

/** Changes of a search within this time make one update. */
const settleMs = 200;

/**
 * Files whose changes matter to a page. The index of the search's runs changes all the time while one trains; SQLite
 * removes its `-shm` when a process ends its work.
 */
const told: ReadonlySet<string> = new Set(['discovery.json', 'rounds.jsonl', 'index.sqlite-shm']);

/** The searches that one page watches: files in their folders tell also what other processes do. */
export class DiscoveryWatches {
  readonly #send: (id: string) => void;
  readonly #onError: (error: unknown) => void;
  readonly #watched = new Map<string, FolderWatch>();
  readonly #settling = new Map<string, NodeJS.Timeout>();

  constructor(send: (id: string) => void, onError: (error: unknown) => void) {
    this.#send = send;
    this.#onError = onError;
  }

  /** Starts to watch a search. A second call changes nothing. */
  watch(id: string): void {
    if (this.#watched.has(id)) return;
    const listener = {
      changed: (file: string | null) => {
        if (file === null || told.has(file)) this.changed(id);
      },
      failed: this.#onError,
      noticed: () => undefined,
    };
    this.#watched.set(id, watchFolder(folderOf(id), listener));
  }

  /** Tells the page soon, if it watches the search. */
  changed(id: string): void {
    if (!this.#watched.has(id) || this.#settling.has(id)) return;
    const timer = setTimeout(() => {
      this.#settling.delete(id);
      this.#send(id);
    }, settleMs);
    this.#settling.set(id, timer);
  }

  unwatch(id: string): void {
    this.#watched.get(id)?.close();
    this.#watched.delete(id);
    clearTimeout(this.#settling.get(id));
    this.#settling.delete(id);
  }

  close(): void {
    for (const id of this.#watched.keys()) this.unwatch(id);
  }
}
