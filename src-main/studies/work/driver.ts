import { messageOf } from '../../../core/text/errors.ts';
import type { StudyLog } from '../../../core/protocol/studies/study-log.ts';
import { SharedWorkers } from '../../runs/workers/shared-workers.ts';
import { type FolderWatch, watchFolder } from '../../store/watch-folder.ts';
import type { NewLine, StudyStore } from '../study-store.ts';
import { isWorkerAlive, WorkerLock } from '../worker-lock.ts';
import { chooseWork } from './choose-work.ts';
import type { TrialRunner } from './runner.ts';
import { TrialWork } from './trial-work.ts';

/** So many trials in a row that fail in this process mean that none can succeed. */
const mostFailures = 5;
/**
 * No file changes when another process dies, so its lock is looked at this often while this process waits for its work.
 */
const lookEveryMs = 1_000;

export interface DriverOptions {
  store: StudyStore;
  runner: TrialRunner;
  /** Most workers of trials that this process has at a time. */
  places: number;
  /** Called after each change of the log. */
  onChange?: () => void;
}

type Choice = { kind: 'work'; works: number[] } | { kind: 'again' | 'wait' | 'done' | 'stop' };

/**
 * Works on a study in this process until it has its trials, or is stopped. Any number of processes may do so: under a
 * lock each chooses its next piece of work, and takes over the pieces of processes that are gone.
 */
export class StudyDriver {
  readonly #options: DriverOptions;
  readonly #active = new Map<number, TrialWork>();
  readonly #free: number[];
  readonly #stopsBefore: number;
  #isStopping = false;
  #failures = 0;
  #error: unknown = null;
  #wake: () => void = () => undefined;

  constructor(options: DriverOptions) {
    this.#options = options;
    this.#free = Array.from({ length: options.places }, (_, place) => place);
    this.#stopsBefore = options.store.log.stops;
  }

  /** Lets the trials of this process stop with their states, and begins no more. */
  stop(): void {
    // A second request would only wake the loop again, which asks for the stop.
    if (this.#isStopping) return;
    this.#isStopping = true;
    for (const work of this.#active.values()) work.stop();
    this.#wake();
  }

  /** Ends the trials of this process at once. */
  abort(): void {
    this.#isStopping = true;
    for (const work of this.#active.values()) work.abort();
    this.#wake();
  }

  /**
   * @returns `finished` if all trials of the study have ended, else `stopped`
   * @throws Error if trials fail one after the other, or the study's files cannot be written
   */
  async run(): Promise<'finished' | 'stopped'> {
    const { store } = this.#options;
    const lock = await WorkerLock.take(store.folder);
    const watch = this.#watch();
    try {
      const end = await this.#work(lock.id);
      if (this.#error !== null) throw this.#error;
      return end;
    } finally {
      watch.close();
      lock.release();
    }
  }

  async #work(worker: string): Promise<'finished' | 'stopped'> {
    for (;;) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const choice = await this.#fill(worker);
      if (choice === 'stop') this.stop();
      if (this.#active.size === 0 && (choice === 'stop' || choice === 'done')) {
        return choice === 'done' ? 'finished' : 'stopped';
      }
      const timer = choice === 'wait' ? setTimeout(() => this.#wake(), lookEveryMs) : undefined;
      await woken;
      clearTimeout(timer);
      await this.#options.store.refresh();
      this.#options.onChange?.();
    }
  }

  /** Begins work while there is some and a place is free. */
  async #fill(worker: string): Promise<'wait' | 'done' | 'stop' | 'full'> {
    for (;;) {
      if (this.#isStopping) return 'stop';
      if (this.#free.length === 0) return 'full';
      const choice = await this.#options.store.decide((log) => this.#choose(log, worker));
      if (choice.kind === 'work') this.#begin(choice.works, worker);
      else if (choice.kind !== 'again') return choice.kind;
      this.#options.onChange?.();
    }
  }

  #choose(log: StudyLog, worker: string): { lines: NewLine[]; value: Choice } {
    const { store } = this.#options;
    if (log.stops > this.#stopsBefore) return { lines: [], value: { kind: 'stop' } };
    const { lines, works, end } = chooseWork(store.study, log, {
      worker,
      isLeft: (work) =>
        work.end === null &&
        !this.#active.has(work.number) &&
        (work.worker === null || !isWorkerAlive(store.folder, work.worker)),
    });
    if (works.length > 0) return { lines, value: { kind: 'work', works } };
    if (lines.length > 0) return { lines, value: { kind: 'again' } };
    const isOver = end === 'done' && log.works.every((work) => work.end !== null);
    return { lines: [], value: { kind: isOver ? 'done' : 'wait' } };
  }

  /** Begins pieces of work that share a worker. */
  #begin(works: readonly number[], worker: string): void {
    const { store, runner } = this.#options;
    const place = this.#free.shift() ?? 0;
    const shared = store.study.trialsPerWorker === 1 ? null : new SharedWorkers();
    const trials = works.map((work) => {
      const seat = shared?.seat() ?? null;
      return { work, trial: new TrialWork({ store, runner, worker, work, place, seat }) };
    });
    for (const { work, trial } of trials) this.#active.set(work, trial);
    void this.#finish(trials, place);
  }

  /** Never rejects. */
  async #finish(trials: readonly { work: number; trial: TrialWork }[], place: number): Promise<void> {
    await Promise.all(trials.map(({ work, trial }) => this.#finishOne(work, trial)));
    this.#free.push(place);
    this.#free.sort((left, right) => left - right);
    this.#wake();
  }

  async #finishOne(work: number, trial: TrialWork): Promise<void> {
    try {
      this.#count(await trial.finish(), work);
    } catch (error) {
      this.#fail(error);
    }
    this.#active.delete(work);
    this.#wake();
  }

  #count(failed: boolean, work: number): void {
    this.#failures = failed ? this.#failures + 1 : 0;
    if (this.#failures < mostFailures) return;
    const { log } = this.#options.store;
    const reason = log.trials[log.works[work].trial].error ?? '';
    this.#fail(
      new Error(
        `${mostFailures} trials failed one after the other, so the study was stopped. The last one: ${reason} ` +
          'Correct the project or the space, and continue the study.',
      ),
    );
  }

  #fail(error: unknown): void {
    this.#error ??= error;
    this.stop();
  }

  #watch(): FolderWatch {
    const { folder } = this.#options.store;
    return watchFolder(folder, {
      changed: (file) => {
        if (file === null || file === 'trials.jsonl') this.#wake();
      },
      failed: (error) => this.#fail(new Error(`${folder} cannot be watched: ${messageOf(error)}`, { cause: error })),
      noticed: () => undefined,
    });
  }
}
