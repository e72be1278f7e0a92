import { type FSWatcher, watch } from 'node:fs';
import type { RunUpdate } from '../../core/protocol/pages/run-updates.ts';
import type { Hub } from './hub.ts';
import { FollowedRun } from './followed-run.ts';
import type { LiveRuns } from './live-runs.ts';

/** What happens meanwhile makes one batch: pages draw ten times a second. */
const batchMs = 100;
/** Runs that stay in memory though nobody watches them, for pages that look at one after the other. */
const keptRuns = 4;

/** The objects that answers to pages are made from. */
export interface HubParts {
  hub: Hub;
  live: LiveRuns;
  feed: RunFeed;
}

type Tell = (updates: RunUpdate[]) => void;

interface Entry {
  readonly id: string;
  readonly run: FollowedRun;
  readonly watchers: Set<Tell>;
  pending: RunUpdate[];
  timer: NodeJS.Timeout | null;
  folderWatcher: FSWatcher | null;
  /** Trained by this process, which tells more than the folder does: what is read there is no news. */
  isLive: boolean;
}

/** Runs that pages look at: kept current in memory, with what happens in them told in batches. */
export class RunFeed {
  readonly #hub: Hub;
  readonly #live: LiveRuns;
  readonly #onError: (error: unknown) => void;
  readonly #stopListening: () => void;
  /** By id; the one looked at last is the last. */
  readonly #entries = new Map<string, Promise<Entry>>();
  readonly #watched = new Map<string, Entry>();

  /** @param onError told of runs that cannot be followed any more */
  constructor(hub: Hub, live: LiveRuns, onError: (error: unknown) => void) {
    this.#hub = hub;
    this.#live = live;
    this.#onError = onError;
    this.#stopListening = live.subscribe((id, update) => this.#takeLive(id, update));
  }

  /** A run as it is now. Its watchers are told first of what they do not know yet. */
  async open(id: string): Promise<FollowedRun> {
    const entry = await this.#entry(id);
    await this.#live.get(id)?.session.written();
    await this.#deliver(entry);
    return entry.run;
  }

  /** Tells what happens in a run from now on, in order. @returns ends that */
  async watch(id: string, tell: Tell): Promise<() => void> {
    const entry = await this.#entry(id);
    // What this one would be told from now on begins where the others are.
    await this.#deliver(entry);
    entry.watchers.add(tell);
    this.#watched.set(id, entry);
    entry.folderWatcher ??= watch(entry.run.folder, () => this.#schedule(entry)).on('error', this.#onError);
    return () => {
      entry.watchers.delete(tell);
      if (entry.watchers.size === 0) this.#leave(entry);
    };
  }

  /** Forgets a run whose folder goes away. */
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
    // A run that could not be read is tried anew the next time.
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

  /** Reads what is new and tells it all. */
  async #deliver(entry: Entry): Promise<void> {
    const wasLive = entry.isLive || this.#live.get(entry.id) !== undefined;
    const found = await entry.run.refresh();
    // A run that has just ended here is on disk as a whole: what is read of it from now on was written elsewhere.
    entry.isLive = this.#live.get(entry.id) !== undefined;
    const updates = [...entry.pending.splice(0), ...(wasLive ? [] : found)];
    if (updates.length > 0) for (const tell of entry.watchers) tell(updates);
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
