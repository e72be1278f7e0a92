import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { FileLock } from '../../core/node/file-lock.ts';
import type { RunRequest, StartedRun } from '../../core/protocol/pages/project-views.ts';
import { mostWaiting, nextOf, queueFileSchema, type WaitingRun } from '../../core/protocol/pages/runs/run-queue.ts';
import { messageOf } from '../../core/text/errors.ts';
import type { Hub } from '../hub/hub.ts';
import { homePaths, tuttiHome } from '../store/home.ts';
import { watchFolder } from '../store/watch-folder.ts';
import { explainFileError, unlessMissing } from '../../core/node/file-error.ts';
import type { ProjectDescription } from '../../core/protocol/run/project-description.ts';
import { CampaignDriver, type CampaignPolicy, type Choice } from './driver.ts';
import { isCampaignUnderWay } from './locks.ts';
import { newSweep } from './sweep-plan.ts';
import type { CampaignWork } from './work.ts';
import { z } from 'zod';
import { writeFileAtomic } from '../../core/node/atomic-file.ts';
import { toJson } from '../../core/protocol/wire/numbers.ts';
import { withRunLock } from '../store/runs/hub-lock.ts';

/**
 * A killed process reports no end, and studies and discoveries of other processes none either: while runs wait, the hub
 * looks this often.
 */
const lookEveryMs = 5_000;

interface QueueWorkOptions {
  hub: Hub;
  start: (waiting: WaitingRun) => Promise<StartedRun>;
  /** Whether this process trains something, or will in a moment: a sweep between two of its runs. */
  isBusy: () => boolean;
  /** Called after each change of the queue, by whichever process. */
  changed: () => void;
  onError: (error: unknown) => void;
}

/**
 * Starts waiting runs, one at a time: the first once this home has no run, study or discovery under way.
 * One process works on a home's queue, the one that holds the lock `queue.lock`; if it ends, another one that is open
 * takes over.
 */
export class QueueWork implements CampaignPolicy<CampaignWork> {
  readonly places = 1;
  readonly mostFailures = Infinity;
  readonly #options: QueueWorkOptions;
  readonly #driver = new CampaignDriver<CampaignWork>(this);
  readonly #ended: Promise<unknown>;
  readonly #watch: { close(): void };
  #lock: FileLock | null = null;
  #isClosed = false;
  /** Whether pages get the queue after the next look, because it may have changed. */
  #isToTell = false;
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
    this.#ended = this.#driver.run();
  }

  /** How many runs wait for this process to start them; 0 where another process works on the queue. */
  get waiting(): number {
    return this.#lock === null ? 0 : this.#waiting;
  }

  /** Starts the next run if it may start. @param isTold whether pages get the queue, because it may have changed */
  look(isTold = false): void {
    this.#isToTell ||= isTold;
    this.#driver.look();
  }

  /** Starts a waiting run now, whatever trains. @throws Error if it no longer waits, or cannot start */
  async startNow(id: string): Promise<StartedRun> {
    const claimed = await claim(id);
    return this.#start(claimed);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watch.close();
    this.#driver.stop();
    await this.#ended;
    this.#lock?.release();
  }

  /** The next run, if it may start. What prevents that is reported, and may have changed when the queue does. */
  async choose(): Promise<Choice<CampaignWork>> {
    try {
      const next = await this.#next();
      if (next !== null) return { kind: 'begin', works: [this.#startOf(await claim(next.id))] };
    } catch (error) {
      this.#options.onError(error);
    }
    return { kind: 'wait', lookAfterMs: this.#waiting > 0 ? lookEveryMs : null };
  }

  async #next(): Promise<WaitingRun | null> {
    const isToTell = this.#isToTell;
    this.#isToTell = false;
    const runs = await readQueue();
    const before = this.waiting;
    this.#waiting = runs.filter(({ error }) => error === null).length;
    const isWorker = runs.length > 0 && (await this.#isWorker());
    if (isToTell || this.waiting !== before) this.#options.changed();
    const next = isWorker ? nextOf(runs) : null;
    const isToWait = next === null || this.#options.isBusy() || (await this.#isTraining()) || this.#isClosed;
    return isToWait ? null : next;
  }

  /**
   * Whether this process works on the queue. The first to do so clears up after one that died while it started a run.
   */
  async #isWorker(): Promise<boolean> {
    if (this.#lock !== null) return true;
    this.#lock = FileLock.tryTake(join(tuttiHome(), 'queue.lock'));
    if (this.#lock !== null) await changeQueue(withoutAbandoned);
    return this.#lock !== null;
  }

  async #isTraining(): Promise<boolean> {
    await this.#options.hub.searchRuns();
    return this.#options.hub.index.overview().active.length > 0 || (await isCampaignUnderWay());
  }

  /** Nothing of it can be stopped: what it starts is no longer the queue's. */
  #startOf(waiting: WaitingRun): CampaignWork {
    return {
      // A failure is in the queue, where the user sees it.
      finish: () =>
        this.#start(waiting).then(
          () => 'done',
          () => 'failed',
        ),
      stop: () => undefined,
      abort: () => undefined,
    };
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

/**
 * Marks a waiting run as one that starts, so that no other process starts it too.
 * @throws Error if it no longer waits
 */
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

/**
 * Nobody knows how far a process came that died while it started a run, so the run is not started a second time by
 * itself.
 */
function withoutAbandoned(runs: WaitingRun[]): WaitingRun[] {
  if (runs.every(({ startedAt }) => startedAt === null)) return runs;
  const error = 'Tutti ended while it started this run. See whether the list has it; if not, start it again.';
  return runs.map((run) => (run.startedAt === null ? run : { ...run, startedAt: null, error }));
}

/**
 * Checks a run or a sweep as if it started now, and puts it at the end of the queue.
 * @returns it, and its place from 1
 * @throws Error if the configuration is invalid, the project is not trusted, or too many runs wait
 */
export async function enqueue(
  hub: Hub,
  request: RunRequest,
  project: ProjectDescription,
): Promise<{ waiting: WaitingRun; place: number }> {
  const { projectFolder, overrides, name, out, repeat } = request;
  const asked = { projectFolder, overrides: [overrides], name: name ?? undefined, folder: out ?? undefined };
  if (repeat === undefined) await hub.planRun(asked, project);
  else await newSweep(hub, asked, project, repeat);
  const waiting: WaitingRun = {
    id: `waiting-${randomBytes(6).toString('hex')}`,
    request: { ...request, projectFolder: resolve(projectFolder), out: out === null ? null : resolve(out) },
    name: name ?? project.name,
    addedAt: new Date().toISOString(),
    startedAt: null,
    error: null,
  };
  const runs = await changeQueue((before) => {
    if (before.length < mostWaiting) return [...before, waiting];
    throw new Error(`${mostWaiting} runs wait already, and no more may. Remove some of them.`);
  });
  return { waiting, place: runs.findIndex(({ id }) => id === waiting.id) + 1 };
}

/** The waiting runs, in the order in which they start. @throws Error if the file is damaged */
export async function readQueue(): Promise<WaitingRun[]> {
  const { queue } = homePaths();
  let text: string | null;
  try {
    text = await unlessMissing(readFile(queue, 'utf8'));
  } catch (error) {
    throw explainFileError(error, queue, 'read');
  }
  if (text === null) return [];
  try {
    return queueFileSchema.parse(JSON.parse(text)).runs;
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Error(
      `The queue of waiting runs ${queue} is damaged: ${reason}\nCorrect it, or remove it: the runs ` +
        'in it then wait no more.',
      { cause: error },
    );
  }
}

/** Changes the queue while no other process does. @returns the new queue */
export function changeQueue(change: (runs: WaitingRun[]) => WaitingRun[]): Promise<WaitingRun[]> {
  return withRunLock(tuttiHome(), async () => {
    const before = await readQueue();
    const after = change(before);
    if (after !== before) await writeFileAtomic(homePaths().queue, `${toJson({ format: 1, runs: after }, 2)}\n`);
    return after;
  });
}
