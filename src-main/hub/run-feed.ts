import type { RunUpdate } from '../../core/protocol/pages/run-updates.ts';
import type { Hub } from './hub.ts';
import { FollowedRun } from './followed-run.ts';
import { type FolderWatch, watchFolder } from '../store/watch-folder.ts';
import type { LiveRuns } from './live-runs.ts';

/** Updates within this time make one batch, because pages draw ten times a second. */
const batchMs = 100;
/** Number of unwatched runs that stay in memory, for pages that show one run after the other. */
const keptRuns = 4;

/** The objects that answers to pages are made from. */
export interface HubParts {
  hub: Hub;
  live: LiveRuns;
  feed: RunFeed;
}

type Send = (updates: RunUpdate[]) => void;

interface Entry {
  readonly id: string;
  readonly run: FollowedRun;
  readonly watchers: Set<Send>;
  pending: RunUpdate[];
  timer: NodeJS.Timeout | null;
  folderWatcher: FolderWatch | null;
  /** Whether this process trains it. Its updates then come directly, and updates read from the folder are dropped. */
  isLive: boolean;
}

/** Keeps the runs that pages show up to date in memory, and sends their updates in batches. */
export class RunFeed {
  readonly #hub: Hub;
  readonly #live: LiveRuns;
  readonly #onError: (error: unknown) => void;
  readonly #stopListening: () => void;
  /** By id, the most recently used last. */
  readonly #entries = new Map<string, Promise<Entry>>();
  readonly #watched = new Map<string, Entry>();

  /** @param onError called for runs that can no longer be followed */
  constructor(hub: Hub, live: LiveRuns, onError: (error: unknown) => void) {
    this.#hub = hub;
    this.#live = live;
    this.#onError = onError;
    this.#stopListening = live.subscribe((id, update) => this.#takeLive(id, update));
  }

  /** Opens a run in its present state. Sends pending updates to its watchers first. */
  async open(id: string): Promise<FollowedRun> {
    const entry = await this.#entry(id);
    await this.#live.get(id)?.session.written();
    await this.#deliver(entry);
    return entry.run;
  }

  /** Sends the updates of a run from now on, in order. @returns a function that unsubscribes */
  async watch(id: string, send: Send): Promise<() => void> {
    const entry = await this.#entry(id);
    // Brings the other watchers up to date, so that all continue from the same point.
    await this.#deliver(entry);
    entry.watchers.add(send);
    this.#watched.set(id, entry);
    entry.folderWatcher ??= watchFolder(entry.run.folder, {
      changed: () => this.#schedule(entry),
      failed: this.#onError,
      noticed: this.#onError,
    });
    return () => {
      entry.watchers.delete(send);
      if (entry.watchers.size === 0) this.#leave(entry);
    };
  }

  /** Drops a run whose folder is about to be removed. */
  forget(id: string): void {
    const entry = this.#watched.get(id);
    if (entry !== undefined) this.#leave(entry);
    this.#entries.delete(id);
  }

  close(): void {
    this.#stopListening();
    for (const entry of this.#watched.values()) this.#leave(entry);
    this.#entries.clear();
  }

  #entry(id: string): Promise<Entry> {
    const entry = this.#entries.get(id) ?? this.#read(id);
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    this.#evict();
    // A run that could not be read is read again the next time.
    entry.catch(() => this.#entries.delete(id));
    return entry;
  }

  async #read(id: string): Promise<Entry> {
    const { folder } = await this.#hub.find(id);
    await this.#live.get(id)?.session.written();
    const run = await FollowedRun.open(folder);
    const isLive = this.#live.get(id) !== undefined;
    return { id, run, watchers: new Set(), pending: [], timer: null, folderWatcher: null, isLive };
  }

  #evict(): void {
    const unwatched = [...this.#entries.keys()].filter((id) => !this.#watched.has(id));
    for (const id of unwatched.slice(0, -keptRuns)) this.#entries.delete(id);
  }

  #takeLive(id: string, update: RunUpdate): void {
    const entry = this.#watched.get(id);
    if (entry === undefined) return;
    entry.isLive = true;
    entry.pending.push(update);
    this.#schedule(entry);
  }

  #schedule(entry: Entry): void {
    entry.timer ??= setTimeout(() => {
      entry.timer = null;
      this.#deliver(entry).catch(this.#onError);
    }, batchMs);
  }

  /** Reads new data and sends all pending updates. */
  async #deliver(entry: Entry): Promise<void> {
    const wasLive = entry.isLive || this.#live.get(entry.id) !== undefined;
    const found = await entry.run.refresh();
    // A run that has just ended here is completely on disk. Later changes come from other processes.
    entry.isLive = this.#live.get(entry.id) !== undefined;
    const updates = [...entry.pending.splice(0), ...(wasLive ? [] : found)];
    if (updates.length > 0) for (const send of entry.watchers) send(updates);
  }

  #leave(entry: Entry): void {
    entry.watchers.clear();
    entry.pending = [];
    entry.folderWatcher?.close();
    entry.folderWatcher = null;
    if (entry.timer !== null) clearTimeout(entry.timer);
    entry.timer = null;
    this.#watched.delete(entry.id);
    this.#evict();
  }
}
