import type { RunUpdate } from '../../core/protocol/pages/run-updates.ts';
import type { Hub } from './hub.ts';
import { FollowedRun } from './followed-run.ts';
import { type FolderWatch, watchFolder } from '../store/watch-folder.ts';
import type { LiveRuns } from './live-runs.ts';

/** Pages draw ten times a second, so the updates of this time travel in one message. */
const deliverEveryMs = 100;
/** Number of unwatched runs that stay in memory, for pages that show one run after the other. */
const keptRuns = 4;

/** The objects that answers to pages are made from. */
export interface HubParts {
  hub: Hub;
  live: LiveRuns;
  feed: RunFeed;
}

/** What the feed asks of all runs. */
interface KnownRuns {
  find(id: string): Promise<{ folder: string }>;
}

/** What it asks of those that this process trains. */
interface TrainedHere {
  get(id: string): { session: { written(): Promise<void> } } | undefined;
  subscribe(listener: (id: string, update: RunUpdate) => void): () => void;
}

type Send = (updates: RunUpdate[]) => void;

interface Entry {
  readonly id: string;
  /** Set when its folder is read, which an attempt that begins here repeats: it dropped rows of the metrics. */
  run: Promise<FollowedRun>;
  readonly watchers: Set<Send>;
  /** What the recorder has told since the last delivery. */
  told: RunUpdate[];
  /** The last delivery. Deliveries run one after the other. */
  delivery: Promise<unknown>;
  timer: NodeJS.Timeout | null;
  folderWatcher: FolderWatch | null;
  /** Whether this process trained it at the last delivery. */
  wasLive: boolean;
}

/**
 * Keeps the runs that pages show up to date in memory, and sends their updates. The folder of a run that this process
 * trains is read once, and its recorder tells the rest. The folder of another run is followed.
 */
export class RunFeed {
  readonly #hub: KnownRuns;
  readonly #live: TrainedHere;
  readonly #onError: (error: unknown) => void;
  readonly #stopListening: () => void;
  /** The entries by id, the most recently used last. */
  readonly #entries = new Map<string, Entry>();

  /** @param onError called for runs that can no longer be followed */
  constructor(hub: KnownRuns, live: TrainedHere, onError: (error: unknown) => void) {
    this.#hub = hub;
    this.#live = live;
    this.#onError = onError;
    this.#stopListening = live.subscribe((id, update) => this.#takeLive(id, update));
  }

  /** Opens a run in its present state. Sends pending updates to its watchers first. */
  async open(id: string): Promise<FollowedRun> {
    const entry = this.#entry(id);
    await entry.run;
    await this.#live.get(id)?.session.written();
    const run = await this.#deliver(entry);
    // Events, loads and record of a run that is told are read when somebody asks.
    if (entry.wasLive) await run.refresh({ isTold: true });
    return run;
  }

  /** Sends the updates of a run from now on, in order. @returns a function that unsubscribes */
  async watch(id: string, send: Send): Promise<() => void> {
    const entry = this.#entry(id);
    // Brings the other watchers up to date, so that all continue from the same point.
    const { folder } = await this.#deliver(entry);
    entry.watchers.add(send);
    this.#entries.set(id, entry);
    entry.folderWatcher ??= watchFolder(folder, {
      changed: () => this.#schedule(entry),
      failed: this.#onError,
      noticed: this.#onError,
    });
    return () => {
      entry.watchers.delete(send);
      if (entry.watchers.size > 0) return;
      this.#unwatch(entry);
      this.#evict();
    };
  }

  /** Drops a run whose folder is about to be removed. */
  forget(id: string): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) this.#drop(entry);
  }

  close(): void {
    this.#stopListening();
    for (const entry of this.#entries.values()) this.#drop(entry);
  }

  #entry(id: string): Entry {
    const entry = this.#entries.get(id) ?? this.#newEntry(id);
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    this.#evict();
    return entry;
  }

  #newEntry(id: string): Entry {
    const entry: Entry = {
      id,
      run: this.#read(id),
      watchers: new Set(),
      told: [],
      delivery: Promise.resolve(),
      timer: null,
      folderWatcher: null,
      wasLive: this.#live.get(id) !== undefined,
    };
    // A run that could not be read is read again the next time.
    entry.run.catch(() => this.#drop(entry));
    return entry;
  }

  async #read(id: string): Promise<FollowedRun> {
    const { folder } = await this.#hub.find(id);
    await this.#live.get(id)?.session.written();
    return FollowedRun.open(folder);
  }

  #evict(): void {
    const unwatched = [...this.#entries.values()].filter(({ watchers }) => watchers.size === 0);
    for (const entry of unwatched.slice(0, -keptRuns)) this.#drop(entry);
  }

  #takeLive(id: string, update: RunUpdate): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    entry.told.push(update);
    this.#schedule(entry);
  }

  #schedule(entry: Entry): void {
    entry.timer ??= setTimeout(() => {
      entry.timer = null;
      this.#deliver(entry).catch(this.#onError);
    }, deliverEveryMs);
  }

  #deliver(entry: Entry): Promise<FollowedRun> {
    const delivery = entry.delivery.then(() => this.#deliverNow(entry));
    entry.delivery = delivery.catch(() => undefined);
    return delivery;
  }

  /** Takes what the recorder told, or reads what another process wrote, and sends it. */
  async #deliverNow(entry: Entry): Promise<FollowedRun> {
    await entry.run;
    const told = entry.told.splice(0);
    const isLive = this.#live.get(entry.id) !== undefined;
    for (const update of told) await this.#take(entry, update);
    const run = await entry.run;
    const found = isLive ? [] : await run.refresh();
    // What is found in the folder of a run that has just ended here was told.
    const isKnown = isLive || entry.wasLive || told.length > 0;
    entry.wasLive = isLive;
    const updates = isKnown ? told : found;
    if (updates.length > 0) for (const send of entry.watchers) send(updates);
    return run;
  }

  async #take(entry: Entry, update: RunUpdate): Promise<void> {
    const run = await entry.run;
    if (update.type === 'points') run.take(update.batch);
    if (update.type !== 'record' || !run.isBeforeAttempt(update.record)) return;
    entry.run = this.#read(entry.id);
    await entry.run.catch((error: unknown) => {
      this.#drop(entry);
      throw error;
    });
  }

  #unwatch(entry: Entry): void {
    entry.watchers.clear();
    entry.folderWatcher?.close();
    entry.folderWatcher = null;
  }

  #drop(entry: Entry): void {
    this.#unwatch(entry);
    if (entry.timer !== null) clearTimeout(entry.timer);
    entry.timer = null;
    if (this.#entries.get(entry.id) === entry) this.#entries.delete(entry.id);
  }
}
