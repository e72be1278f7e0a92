import { messageOf } from '../../../core/text/errors.ts';
import type { StudyLog } from '../../../core/protocol/studies/study-log.ts';
import { CampaignDriver, type CampaignPolicy, type Choice } from '../../campaigns/driver.ts';
import { SharedWorkers } from '../../runs/workers/shared-workers.ts';
import { watchFolder } from '../../store/watch-folder.ts';
import type { NewLine, StudyStore } from '../study-store.ts';
import { isWorkerAlive, WorkerLock } from '../../campaigns/locks.ts';
import { chooseWork } from './choose-work.ts';
import type { TrialRunner } from './runner.ts';
import { TrialWork } from './trial-work.ts';

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

/**
 * Works on a study in this process until it has its trials, or is stopped. Any number of processes may do so: under a
 * lock each chooses its next piece of work, and takes over the pieces of processes that are gone.
 */
export class StudyDriver {
  readonly #store: StudyStore;
  readonly #policy: StudyPolicy;
  readonly #driver: CampaignDriver<TrialWork>;

  constructor(options: DriverOptions) {
    this.#store = options.store;
    this.#policy = new StudyPolicy(options);
    this.#driver = new CampaignDriver(this.#policy);
  }

  /** Lets the trials of this process stop with their states, and begins no more. */
  stop(): void {
    this.#driver.stop();
  }

  /** Ends the trials of this process at once. */
  abort(): void {
    this.#driver.abort();
  }

  /**
   * @returns `finished` if all trials of the study have ended, else `stopped`
   * @throws Error if trials fail one after the other, or the study's files cannot be written
   */
  async run(): Promise<'finished' | 'stopped'> {
    const { folder } = this.#store;
    const lock = await WorkerLock.take(folder);
    this.#policy.worker = lock.id;
    const watch = watchFolder(folder, {
      changed: (file) => {
        if (file === null || file === 'trials.jsonl') this.#driver.look();
      },
      failed: (error) =>
        this.#driver.fail(new Error(`${folder} cannot be watched: ${messageOf(error)}`, { cause: error })),
      noticed: () => undefined,
    });
    try {
      return (await this.#driver.run()) === 'done' ? 'finished' : 'stopped';
    } finally {
      watch.close();
      lock.release();
    }
  }
}

/** Which trials are next. */
class StudyPolicy implements CampaignPolicy<TrialWork> {
  readonly mostFailures = 5;
  readonly #options: DriverOptions;
  readonly #stopsBefore: number;
  /** This process, in the lines that it writes. */
  worker = '';

  constructor(options: DriverOptions) {
    this.#options = options;
    this.#stopsBefore = options.store.log.stops;
  }

  get places(): number {
    return this.#options.places;
  }

  async changed(): Promise<void> {
    await this.#options.store.refresh();
    this.#options.onChange?.();
  }

  async choose(place: number, active: ReadonlySet<TrialWork>): Promise<Choice<TrialWork>> {
    const { store, onChange } = this.#options;
    const choice = await store.decide((log) => this.#choose(log, active));
    if ('kind' in choice) {
      if (choice.kind === 'again') onChange?.();
      return choice;
    }
    const works = this.#begin(choice.works, place);
    onChange?.();
    return { kind: 'begin', works };
  }

  giveUp({ trial }: TrialWork): void {
    const reason = this.#options.store.log.trials[trial].error ?? '';
    throw new Error(
      `${this.mostFailures} trials failed one after the other, so the study was stopped. The last one: ${reason} ` +
        'Correct the project or the space, and continue the study.',
    );
  }

  #choose(
    log: StudyLog,
    active: ReadonlySet<TrialWork>,
  ): { lines: NewLine[]; value: Choice<never> | { works: number[] } } {
    const { store } = this.#options;
    if (log.stops > this.#stopsBefore) return { lines: [], value: { kind: 'stop' } };
    const own = new Set([...active].map(({ work }) => work));
    const { lines, works, end } = chooseWork(store.study, log, {
      worker: this.worker,
      isLeft: (work) =>
        work.end === null &&
        !own.has(work.number) &&
        (work.worker === null || !isWorkerAlive(store.folder, work.worker)),
    });
    if (works.length > 0) return { lines, value: { works } };
    if (lines.length > 0) return { lines, value: { kind: 'again' } };
    const isOver = end === 'done' && log.works.every((work) => work.end !== null);
    return { lines: [], value: isOver ? { kind: 'done' } : { kind: 'wait', lookAfterMs: lookEveryMs } };
  }

  /** Pieces of work that share a worker. */
  #begin(works: readonly number[], place: number): TrialWork[] {
    const { store, runner } = this.#options;
    const shared = store.study.trialsPerWorker === 1 ? null : new SharedWorkers();
    return works.map((work) => {
      const seat = shared?.seat() ?? null;
      return new TrialWork({ store, runner, worker: this.worker, work, place, seat });
    });
  }
}
