import type { PageApi } from '../../core/protocol/pages/rpc.ts';
import { toJson } from '../../core/protocol/wire/numbers.ts';
import { watchFolder } from '../store/watch-folder.ts';
import { studyPaths } from '../studies/study-folder.ts';
import { viewStudy } from '../studies/studies.ts';
import type { DiscoveryService } from './discoveries/discovery-service.ts';
import { folderOf } from './discoveries/kept-search.ts';
import type { StudyService } from './study-service.ts';

/** What one page watches of one kind: runs, studies or searches. */
export class PageWatches {
  readonly #start: (id: string) => Promise<() => void>;
  /** The function that ends each watch, once the watch has started. */
  readonly #endings = new Map<string, Promise<() => void>>();

  /** @param start starts a watch, and answers with the function that ends it */
  constructor(start: (id: string) => Promise<() => void>) {
    this.#start = start;
  }

  /** Starts to watch a run, study or search. A second call for the same one changes nothing. */
  async watch(id: string): Promise<void> {
    const ending = this.#endings.get(id) ?? this.#start(id);
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

/** Sends what changed in a study since the last time. @returns the function that ends it */
export async function watchStudy(
  service: StudyService,
  id: string,
  send: (change: Parameters<PageApi['studyChanged']>[1]) => void,
  onError: (error: unknown) => void,
): Promise<() => void> {
  const store = await service.open(id);
  const told = new Map(viewStudy(store).trials.map((trial) => [trial.number, toJson(trial)]));
  const tell = async (): Promise<void> => {
    await store.refresh();
    const { summary, trials, enqueued } = viewStudy(store, service.isHere(id));
    const changed = trials.filter((trial) => {
      const text = toJson(trial);
      const isNew = told.get(trial.number) !== text;
      told.set(trial.number, text);
      return isNew;
    });
    send({ summary, trials: changed, enqueued });
  };
  // The folder of workers tells when a process begins or ends its work.
  const folders = [store.folder, studyPaths(store.folder).workers];
  return watchFolders(folders, () => void tell().catch(onError), onError).end;
}

/**
 * Files of a search whose changes matter to a page. The index of its runs changes all the time while one trains; SQLite
 * removes its `-shm` when a process ends its work.
 */
const filesOfSearch: ReadonlySet<string> = new Set(['discovery.json', 'rounds.jsonl', 'index.sqlite-shm']);

/**
 * Tells that a search has changed, in this process or, by the files in its folder, in another. @returns the function
 * that ends it
 */
export function watchSearch(
  service: DiscoveryService,
  id: string,
  send: () => void,
  onError: (error: unknown) => void,
): () => void {
  const { changed, end } = watchFolders([folderOf(id)], send, onError, (file) => filesOfSearch.has(file));
  const unsubscribe = service.subscribe({
    discoveriesChanged: () => undefined,
    discoveryChanged: (other) => other === id && changed(),
  });
  return () => {
    unsubscribe();
    end();
  };
}

/** Changes within this time make one update. */
const settleMs = 200;

/** Calls `tell` soon after a change in one of the folders. */
function watchFolders(
  folders: readonly string[],
  tell: () => void,
  onError: (error: unknown) => void,
  matters: (file: string) => boolean = () => true,
): { changed: () => void; end: () => void } {
  let settling: NodeJS.Timeout | null = null;
  const changed = (): void => {
    settling ??= setTimeout(() => {
      settling = null;
      tell();
    }, settleMs);
  };
  const listener = {
    changed: (file: string | null) => {
      if (file === null || matters(file)) changed();
    },
    failed: onError,
    noticed: () => undefined,
  };
  const watchers = folders.map((folder) => watchFolder(folder, listener));
  const end = (): void => {
    for (const watcher of watchers) watcher.close();
    if (settling !== null) clearTimeout(settling);
  };
  return { changed, end };
}
