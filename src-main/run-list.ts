import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import type { ListedRun } from '../protocol/run-list.ts';
import { toJson } from '../protocol/numbers.ts';
import type { Hub } from './hub.ts';
import { homePaths, tuttiHome } from './store/home.ts';
import type { IndexedRun } from './store/indexed-run.ts';
import { recoverRuns } from './store/recovery.ts';

/** One change of a run writes the index several times; they make one update. */
const settleMs = 100;

/**
 * The runs as the window shows them. Runs train in processes of their own (a terminal's, say), which all write to the index:
 * the system tells when its files change, so nothing is polled.
 */
export class RunList {
  readonly #hub: Hub;
  readonly #watcher: FSWatcher;
  readonly #listeners = new Set<(runs: ListedRun[]) => void>();
  #settling: NodeJS.Timeout | null = null;
  #last: string;

  /** @param onError told when the index cannot be watched or read any more */
  constructor(hub: Hub, onError: (error: unknown) => void) {
    this.#hub = hub;
    this.#last = toJson(this.#read());
    const index = basename(homePaths().index);
    this.#watcher = watch(tuttiHome(), (_event, file) => {
      if (file === null || file.startsWith(index)) this.#indexChanged(onError);
    });
    this.#watcher.on('error', onError);
  }

  /** All runs, the newest first. Those whose process is gone are found and marked on the way. */
  async list(): Promise<ListedRun[]> {
    await recoverRuns(this.#hub.index);
    return this.#read();
  }

  /** Calls the listener with the whole list whenever it has changed. @returns ends that */
  subscribe(listener: (runs: ListedRun[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#watcher.close();
    if (this.#settling !== null) clearTimeout(this.#settling);
    this.#listeners.clear();
  }

  #indexChanged(onError: (error: unknown) => void): void {
    this.#settling ??= setTimeout(() => {
      this.#settling = null;
      try {
        this.#tell();
      } catch (error) {
        onError(error);
      }
    }, settleMs);
  }

  /** Only where the list differs: looking for abandoned runs writes the index too. */
  #tell(): void {
    const runs = this.#read();
    const text = toJson(runs);
    if (text === this.#last) return;
    this.#last = text;
    for (const listener of this.#listeners) listener(runs);
  }

  #read(): ListedRun[] {
    return this.#hub.runs({}).map(describeRun);
  }
}

function describeRun(run: IndexedRun): ListedRun {
  const { folder, id, name, project, status, members, bestMetric, bestValue, bestEpoch, createdAt, error } = run;
  const best =
    bestMetric === null || bestValue === null || bestEpoch === null
      ? null
      : { metric: bestMetric, value: bestValue, epoch: bestEpoch };
  return { folder, id, name, project, status, members, best, startedAt: createdAt, error };
}
