import { join } from 'node:path';
import { FileLock } from '../../core/node/file-lock.ts';
import type { StartedRun } from '../../core/protocol/pages/project-views.ts';
import { nextOf, type WaitingRun } from '../../core/protocol/pages/runs/run-queue.ts';
import { messageOf } from '../../core/text/errors.ts';
import type { Hub } from '../hub/hub.ts';
import { tuttiHome } from '../store/home.ts';
import { watchFolder } from '../store/watch-folder.ts';
import { isStudyOrSearchUnderWay } from './other-work.ts';
import { changeQueue, readQueue } from './queue-file.ts';

/** A killed process reports no end, and studies and searches of other processes none either: while runs wait, the hub looks this often. */
const lookEveryMs = 5_000;

export interface QueueWorkOptions {
  hub: Hub;
  start: (waiting: WaitingRun) => Promise<StartedRun>;
  /** Whether this process trains something, or will in a moment: a sweep between two of its runs. */
  isBusy: () => boolean;
  /** Called after each change of the queue, by whichever process. */
  changed: () => void;
  onError: (error: unknown) => void;
}

/**
 * Starts waiting runs, one at a time: the first once no run of this home trains, and no study or search is under way. One process works on a home's queue, the one that holds the lock
 * `queue.lock`; if it ends, another one that is open takes over.
 */
export class QueueWork {
  readonly #options: QueueWorkOptions;
  readonly #watch: { close(): void };
  readonly #timer: NodeJS.Timeout;
  #lock: FileLock | null = null;
  /** The look that goes on; looks run one after the other. */
  #looking: Promise<void> = Promise.resolve();
  #isClosed = false;
  /** Runs that wait or start, without those that could not start. */
  #waiting = 0;

  constructor(options: QueueWorkOptions) {
    this.#options = options;
    const { onError } = options;
    this.#watch = watchFolder(tuttiHome(), {
      changed: (file) => {
        if (file === null || file === 'queue.json') this.look(true);
      },
      failed: onError,
      noticed: onError,
    });
    this.#timer = setInterval(() => {
      if (this.#waiting > 0) this.look();
    }, lookEveryMs).unref();
    this.look();
  }

  /** How many runs wait for this process to start them; 0 where another process works on the queue. */
  get waiting(): number {
    return this.#lock === null ? 0 : this.#waiting;
  }

  /** Starts the next run if it may start. @param isTold whether pages get the queue, because it may have changed */
  look(isTold = false): void {
    this.#looking = this.#looking.then(() => this.#look(isTold)).catch(this.#options.onError);
  }

  /** Starts a waiting run now, whatever trains. @throws Error if it no longer waits, or cannot start */
  async startNow(id: string): Promise<StartedRun> {
    const claimed = await claim(id);
    return this.#start(claimed);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#watch.close();
    await this.#looking;
    this.#lock?.release();
  }

  async #look(isTold: boolean): Promise<void> {
    if (this.#isClosed) return;
    const runs = await readQueue();
    const before = this.waiting;
    this.#waiting = runs.filter(({ error }) => error === null).length;
    const isWorker = runs.length > 0 && (await this.#isWorker());
    if (isTold || this.waiting !== before) this.#options.changed();
    if (!isWorker) return;
    const next = nextOf(runs);
    if (next === null || this.#options.isBusy() || (await this.#isTraining()) || this.#isClosed) return;
    // Its failure is in the queue, where the user sees it.
    await this.#start(await claim(next.id)).catch(() => undefined);
    this.look();
  }

  /** Whether this process works on the queue. The first to do so clears up after one that died while it started a run. */
  async #isWorker(): Promise<boolean> {
    if (this.#lock !== null) return true;
    this.#lock = FileLock.tryTake(join(tuttiHome(), 'queue.lock'));
    if (this.#lock !== null) await changeQueue(withoutAbandoned);
    return this.#lock !== null;
  }

  async #isTraining(): Promise<boolean> {
    await this.#options.hub.searchRuns();
    return this.#options.hub.index.overview().active.length > 0 || (await isStudyOrSearchUnderWay());
  }

  async #start(waiting: WaitingRun): Promise<StartedRun> {
    try {
      const started = await this.#options.start(waiting);
      await changeQueue((runs) => runs.filter(({ id }) => id !== waiting.id));
      return started;
    } catch (error) {
      await changeQueue((runs) =>
        runs.map((run) => (run.id === waiting.id ? { ...run, startedAt: null, error: messageOf(error) } : run)),
      );
      throw error;
    }
  }
}

/** Marks a waiting run as one that starts, so that no other process starts it too. @throws Error if it no longer waits */
async function claim(id: string): Promise<WaitingRun> {
  let claimed: WaitingRun | undefined;
  await changeQueue((runs) => {
    claimed = runs.find((run) => run.id === id && run.startedAt === null);
    const startedAt = new Date().toISOString();
    return runs.map((run) => (run === claimed ? { ...run, startedAt, error: null } : run));
  });
  if (claimed === undefined) throw new Error(`No run ${id} waits: it was removed, or has started.`);
  return claimed;
}

/** Nobody knows how far a process came that died while it started a run, so the run is not started a second time by itself. */
function withoutAbandoned(runs: WaitingRun[]): WaitingRun[] {
  if (runs.every(({ startedAt }) => startedAt === null)) return runs;
  const error = 'Tutti ended while it started this run. See whether the list has it; if not, start it again.';
  return runs.map((run) => (run.startedAt === null ? run : { ...run, startedAt: null, error }));
}
