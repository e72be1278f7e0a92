import type { PageApi } from '../../core/protocol/pages/rpc.ts';
import { toJson } from '../../core/protocol/wire/numbers.ts';
import { type FolderWatch, watchFolder } from '../store/watch-folder.ts';
import { studyPaths } from '../studies/study-folder.ts';
import type { StudyStore } from '../studies/study-store.ts';
import { viewStudy } from '../studies/studies.ts';
import type { StudyService } from './study-service.ts';

/** Changes of a study within this time make one update. */
const settleMs = 200;

/** The studies that one page watches. */
export class StudyWatches {
  readonly #service: StudyService;
  readonly #send: PageApi['studyChanged'];
  readonly #onError: (error: unknown) => void;
  readonly #watched = new Map<string, Promise<StudyWatch>>();

  constructor(service: StudyService, send: PageApi['studyChanged'], onError: (error: unknown) => void) {
    this.#service = service;
    this.#send = send;
    this.#onError = onError;
  }

  /** Starts to watch a study. A second call changes nothing. */
  async watch(id: string): Promise<void> {
    const watch =
      this.#watched.get(id) ??
      this.#service.open(id).then((store) => {
        const isHere = (): boolean => this.#service.isHere(id);
        return new StudyWatch(store, { isHere, send: (change) => this.#send(id, change), onError: this.#onError });
      });
    this.#watched.set(id, watch);
    try {
      await watch;
    } catch (error) {
      this.#watched.delete(id);
      throw error;
    }
  }

  async unwatch(id: string): Promise<void> {
    const watch = this.#watched.get(id);
    this.#watched.delete(id);
    (await watch)?.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#watched.keys()].map((id) => this.unwatch(id)));
  }
}

interface WatchParts {
  isHere: () => boolean;
  send: (change: Parameters<PageApi['studyChanged']>[1]) => void;
  onError: (error: unknown) => void;
}

/** Sends what changed in a study since the last time. */
class StudyWatch {
  readonly #store: StudyStore;
  readonly #parts: WatchParts;
  readonly #watchers: FolderWatch[];
  readonly #told = new Map<number, string>();
  #settling: NodeJS.Timeout | null = null;

  constructor(store: StudyStore, parts: WatchParts) {
    this.#store = store;
    this.#parts = parts;
    for (const trial of viewStudy(store).trials) this.#told.set(trial.number, toJson(trial));
    const listener = {
      changed: () => this.#changed(),
      failed: parts.onError,
      noticed: () => undefined,
    };
    // The folder of workers tells when a process begins or ends its work.
    this.#watchers = [store.folder, studyPaths(store.folder).workers].map((folder) => watchFolder(folder, listener));
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close();
    if (this.#settling !== null) clearTimeout(this.#settling);
  }

  #changed(): void {
    this.#settling ??= setTimeout(() => {
      this.#settling = null;
      this.#tell().catch(this.#parts.onError);
    }, settleMs);
  }

  async #tell(): Promise<void> {
    await this.#store.refresh();
    const { summary, trials, enqueued } = viewStudy(this.#store, this.#parts.isHere());
    const changed = trials.filter((trial) => {
      const text = toJson(trial);
      const isNew = this.#told.get(trial.number) !== text;
      this.#told.set(trial.number, text);
      return isNew;
    });
    this.#parts.send({ summary, trials: changed, enqueued });
  }
}
