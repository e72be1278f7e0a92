import { messageOf } from '../../../core/text/errors.ts';
import { nextPiece } from '../../../core/protocol/studies/next-piece.ts';
import type { StudyLog } from '../../../core/protocol/studies/study-log.ts';
import { type FolderWatch, watchFolder } from '../../store/watch-folder.ts';
import type { NewLine, StudyStore } from '../folder/study-store.ts';
import { isWorkerAlive, WorkerLock } from '../folder/worker-lock.ts';
import type { TrialRunner } from './runner.ts';
import { TrialWork } from './trial-work.ts';

/** A piece of work that has cost so many processes is not tried again: it may be what ends them. */
const mostLosses = 3;
/** So many trials in a row that fail in this process mean that none can succeed. */
const mostFailures = 5;
/** No file changes when another process dies, so its lock is looked at this often while this process waits for its work. */
const lookEveryMs = 1_000;

export interface DriverOptions {
  store: StudyStore;
  runner: TrialRunner;
  /** Most trials that this process trains at a time. */
  places: number;
  /** Called after each change of the log. */
  onChange?: () => void;
}

type Choice = { kind: 'work'; work: number } | { kind: 'again' | 'wait' | 'done' | 'stop' };

/**
 * Works on a study in this process until it has its trials, or is stopped. Any number of processes may do so: under a lock each chooses its next piece
 * of work, and takes over the pieces of processes that are gone.
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
      if (choice.kind === 'work') this.#begin(choice.work, worker);
      else if (choice.kind !== 'again') return choice.kind;
      this.#options.onChange?.();
    }
  }

  #choose(log: StudyLog, worker: string): { lines: NewLine[]; value: Choice } {
    const { store } = this.#options;
    if (log.stops > this.#stopsBefore) return { lines: [], value: { kind: 'stop' } };
    const orphan = log.works.find(
      (work) =>
        work.end === null &&
        !this.#active.has(work.number) &&
        (work.worker === null || !isWorkerAlive(store.folder, work.worker)),
    );
    if (orphan !== undefined) {
      const { number: work, trial: number, losses } = orphan;
      if (losses < mostLosses) return { lines: [{ type: 'claim', work, worker }], value: { kind: 'work', work } };
      const error = `${losses + 1} processes ended while they trained this trial, so it is not tried again.`;
      const end = { type: 'end' as const, work, number, state: 'failed' as const, objectives: null, error };
      return { lines: [end], value: { kind: 'again' } };
    }
    const piece = nextPiece(store.study, log);
    if (piece.kind === 'wait' || piece.kind === 'done') {
      const isOver = piece.kind === 'done' && log.works.every(({ end }) => end !== null);
      return { lines: [], value: { kind: isOver ? 'done' : 'wait' } };
    }
    const { kind: type, ...fields } = piece;
    return { lines: [{ type, ...fields, worker } as NewLine], value: { kind: 'work', work: piece.work } };
  }

  #begin(work: number, worker: string): void {
    const { store, runner } = this.#options;
    const place = this.#free.shift() ?? 0;
    const trial = new TrialWork({ store, runner, worker, work, place });
    this.#active.set(work, trial);
    trial
      .finish()
      .then((failed) => this.#count(failed, work))
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#active.delete(work);
        this.#free.push(place);
        this.#free.sort((left, right) => left - right);
        this.#wake();
      });
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
