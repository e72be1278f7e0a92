import { basename } from 'node:path';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import type { RunRow } from '../../../core/protocol/pages/run-views.ts';
import type { Hub } from '../../hub/hub.ts';
import { homePaths, tuttiHome } from '../../store/home.ts';
import type { IndexRow } from '../../store/index/indexed-run.ts';
import { recoverRuns } from '../../store/index/recovery.ts';
import { type FolderWatch, watchFolder } from '../../store/watch-folder.ts';

/** One change of a run writes the index several times. Writes within this time make one update. */
const settleMs = 100;
/** A list of thousands takes long to read and to send. Updates take at most a tenth of the hub's time. */
const pauseShare = 10;

/**
 * The table of runs. Runs may train in several processes, such as terminals, which all write to the index. The system reports
 * changes of its files, so nothing is polled.
 */
export class RunList {
  readonly #hub: Hub;
  readonly #watcher: FolderWatch;
  readonly #listeners = new Set<(runs: RunRow[]) => void>();
  #settling: NodeJS.Timeout | null = null;
  #settleMs = settleMs;
  /** The rows at a version of the index. */
  #held: { version: string; rows: RunRow[] } | null = null;
  #last: string;

  /** @param onError called if the index can no longer be watched or read */
  constructor(hub: Hub, onError: (error: unknown) => void) {
    this.#hub = hub;
    this.#last = toJson(this.#read());
    const index = basename(homePaths().index);
    this.#watcher = watchFolder(tuttiHome(), {
      changed: (file) => {
        if (file === null || file.startsWith(index)) this.#indexChanged(onError);
      },
      failed: onError,
      noticed: onError,
    });
  }

  /** All runs, the newest first. Marks runs whose process is gone. */
  async list(): Promise<RunRow[]> {
    await recoverRuns(this.#hub.index);
    return this.#read();
  }

  /** Calls the listener with the whole list after each change. @returns a function that unsubscribes */
  subscribe(listener: (runs: RunRow[]) => void): () => void {
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
      const startedMs = performance.now();
      try {
        this.#notify();
      } catch (error) {
        onError(error);
      }
      this.#settleMs = Math.max(settleMs, pauseShare * (performance.now() - startedMs));
    }, this.#settleMs);
  }

  /** Notifies listeners if the list differs, because the search for abandoned runs writes the index too. */
  #notify(): void {
    const runs = this.#read();
    const text = toJson(runs);
    if (text === this.#last) return;
    this.#last = text;
    for (const listener of this.#listeners) listener(runs);
  }

  #read(): RunRow[] {
    const { index } = this.#hub;
    const version = index.version();
    if (this.#held?.version === version) return this.#held.rows;
    const rows = index.rows().map(describeRow);
    this.#held = { version, rows };
    return rows;
  }
}

/** The table's row of a run. */
export function describeRow(run: IndexRow & { config?: unknown }): RunRow {
  const { bestMetric, bestValue, bestEpoch, projectFolder: _folder, config: _config, ...row } = run;
  const isWhole = bestMetric !== null && bestValue !== null && bestEpoch !== null;
  return { ...row, best: isWhole ? { metric: bestMetric, value: bestValue, epoch: bestEpoch } : null };
}
