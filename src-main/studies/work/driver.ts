import { messageOf } from '../../../core/text/errors.ts';
import type { StudyLog, Work, WorkGroup } from '../../../core/protocol/studies/study-log.ts';
import { CampaignDriver, type CampaignPolicy, type Choice } from '../../campaigns/driver.ts';
import { SharedWorkers } from '../../runs/workers/shared-workers.ts';
import { watchFolder } from '../../store/watch-folder.ts';
import type { NewLine, StudyStore } from '../study-store.ts';
import { isWorkerAlive, WorkerLock } from '../../campaigns/locks.ts';
import type { TrialRunner } from './runner.ts';
import { TrialWork } from './trial-work.ts';
import { nextPiece } from '../../../core/protocol/studies/next-piece.ts';
import type { Study } from '../../../core/protocol/studies/study.ts';

/** A piece of work that has cost so many processes is not tried again: it may be what ends them. */
const mostLosses = 3;

/** What a process does next: the lines that say so, and its pieces of work, which begin together. */
interface ChosenWork {
  lines: NewLine[];
  works: number[];
  /** Why there are no more pieces; null where there may be. */
  end: 'wait' | 'done' | null;
}

/**
 * Chooses work: pieces that other processes left, or new ones. With several trials in a worker these are a group, of
 * which an interruption may have left a part.
 * @param by the process that takes them, and whether a piece was left
 */
export function chooseWork(
  study: Study,
  log: StudyLog,
  { worker, isLeft }: { worker: string; isLeft: (work: Work) => boolean },
): ChosenWork {
  const first = log.works.find(isLeft);
  if (first === undefined) return newPieces(study, log, worker, null);
  if (first.losses >= mostLosses) return { lines: [giveUp(first)], works: [], end: null };
  const isBeside = ({ number, group }: Work): boolean =>
    number === first.number || (group !== null && group.first === first.group?.first);
  const left = log.works.filter((work) => isLeft(work) && isBeside(work) && work.losses < mostLosses);
  const claims = left.map(({ number: work }): NewLine => ({ type: 'claim', work, worker }));
  const others = first.group === null ? { lines: [], works: [] } : newPieces(study, log, worker, first.group);
  return {
    lines: [...claims, ...others.lines],
    works: [...left.map(({ number }) => number), ...others.works],
    end: null,
  };
}

/** @param joined the group that the pieces must belong to; null: a new one, or what is missing of the newest */
function newPieces(study: Study, log: StudyLog, worker: string, joined: WorkGroup | null): ChosenWork {
  const ahead = log.copy();
  const chosen: ChosenWork = { lines: [], works: [], end: null };
  let group = joined;
  while (chosen.works.length < study.trialsPerWorker) {
    const piece = nextPiece(study, ahead);
    if (piece.kind === 'wait' || piece.kind === 'done') return { ...chosen, end: piece.kind };
    if (group !== null && piece.group?.first !== group.first) return chosen;
    group = piece.group ?? null;
    const { kind: type, ...fields } = piece;
    const line = { type, ...fields, worker } as NewLine;
    ahead.take({ ...line, time: ahead.changedAt });
    chosen.lines.push(line);
    chosen.works.push(piece.work);
  }
  return chosen;
}

function giveUp({ number: work, trial: number, losses }: Work): NewLine {
  const error = `${losses + 1} processes ended while they trained this trial, so it is not tried again.`;
  return { type: 'end', work, number, state: 'failed', objectives: null, error };
}

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
