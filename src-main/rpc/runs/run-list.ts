import { basename } from 'node:path';
import {
  maximumRunRows,
  type RunListChange,
  type RunOverview,
  type RunPage,
  type RunQuery,
} from '../../../core/protocol/pages/run-list.ts';
import type { GroupRequest, KnownField, RunGroups } from '../../../core/protocol/pages/runs/run-groups.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import type { Hub } from '../../hub/hub.ts';
import { homePaths, tuttiHome } from '../../store/home.ts';
import { type FolderWatch, watchFolder } from '../../store/watch-folder.ts';

/** One change of a run writes the index several times. Writes within this time make one update. */
const settleMs = 100;
/** While many processes write the index, updates take at most a tenth of the hub's time. */
const pauseShare = 10;
/** If more runs change within one update, pages ask for what they show. */
const toldRuns = 50;

/**
 * The list of runs. Runs may train in several processes, such as terminals, which all write to the index. The system
 * reports changes of its files, so nothing is polled.
 */
export class RunList {
  readonly #hub: Hub;
  readonly #watcher: FolderWatch;
  readonly #listeners = new Set<(change: RunListChange) => void>();
  #settling: NodeJS.Timeout | null = null;
  #settleMs = settleMs;
  /** The last revision that the listeners know. */
  #revision: number;
  #overview: string;
  /** The search for new and abandoned runs that goes on, and the one after it. */
  #searching: Promise<void> | null = null;
  #nextSearch: Promise<void> | null = null;

  /** @param onError called if the index can no longer be watched or read */
  constructor(hub: Hub, onError: (error: unknown) => void) {
    this.#hub = hub;
    this.#revision = hub.index.revision();
    this.#overview = toJson(hub.index.overview());
    const index = basename(homePaths().index);
    this.#watcher = watchFolder(tuttiHome(), {
      changed: (file) => {
        if (file === null || file.startsWith(index)) this.#indexChanged(onError);
      },
      failed: onError,
      noticed: onError,
    });
  }

  /** A part of the list. Finds new runs first, and marks those whose process is gone. */
  async page(query: RunQuery): Promise<RunPage> {
    await this.#search();
    return this.#hub.index.page({ limit: maximumRunRows, ...query });
  }

  async groups(request: GroupRequest): Promise<RunGroups> {
    await this.#search();
    return this.#hub.index.groups(request);
  }

  async knownFields(query: RunQuery): Promise<KnownField[]> {
    await this.#search();
    return this.#hub.index.knownFields(query);
  }

  async overview(): Promise<RunOverview> {
    await this.#search();
    return this.#hub.index.overview();
  }

  /** Calls the listener after each change of the list. @returns a function that unsubscribes */
  subscribe(listener: (change: RunListChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#watcher.close();
    if (this.#settling !== null) clearTimeout(this.#settling);
    this.#listeners.clear();
  }

  /** Calls at the same time share a search, but none takes one that had begun before it. */
  #search(): Promise<void> {
    if (this.#searching === null) return this.#begin();
    this.#nextSearch ??= this.#searching.then(() => {
      this.#nextSearch = null;
      return this.#begin();
    });
    return this.#nextSearch;
  }

  #begin(): Promise<void> {
    const search = this.#hub.searchRuns().finally(() => {
      if (this.#searching === search) this.#searching = null;
    });
    this.#searching = search;
    return search;
  }

  #indexChanged(onError: (error: unknown) => void): void {
    this.#settling ??= setTimeout(() => {
      this.#settling = null;
      const startedMs = performance.now();
      try {
        this.#notify();
      } catch (error) {
        onError(error);
      }
      this.#settleMs = Math.max(settleMs, pauseShare * (performance.now() - startedMs));
    }, this.#settleMs);
  }

  #notify(): void {
    const { index } = this.#hub;
    const { revision, ...changes } = index.changesSince(this.#revision, toldRuns);
    if (revision === this.#revision) return;
    this.#revision = revision;
    const overview = index.overview();
    const text = toJson(overview);
    const change = { ...changes, overview: text === this.#overview ? null : overview };
    this.#overview = text;
    for (const listener of this.#listeners) listener(change);
  }
}
