import type { WorkerState } from '../../core/protocol/run/messages.ts';
import type { PlainObject } from '../../core/options/index.ts';
import type { ControlRequest } from '../../core/protocol/run/control-state.ts';
import type { EvaluatedSet, RunEvent } from '../../core/protocol/run/record.ts';
import { isDiskEvent } from '../../core/protocol/pages/runs/disk-use.ts';
import type { RunFacts, RunUpdate } from '../../core/protocol/pages/run-updates.ts';
import type { Hub, ResumeOptions } from './hub.ts';
import type { PlannedFork } from './fork-run.ts';
import type { PlannedRun } from './plan-run.ts';
import { TrainingWork } from './training-work.ts';
import type { RunListener } from '../runs/recording/run-recorder.ts';
import type { RunSession } from '../runs/attempt/run-session.ts';

/** The last report of a rank of a run in this process. */
export interface LiveRank {
  state: WorkerState | 'exited';
  epoch: number;
  step: number;
  pid: number | null;
  samplesPerSecond: number | null;
  memoryBytes: number | null;
}

/** A run that this process trains. */
export interface LiveRun {
  readonly session: RunSession;
  facts: RunFacts | null;
  readonly ranks: Map<number, LiveRank>;
  readonly evaluatedSets: EvaluatedSet[];
  /** Events of waits for space on the disk. While the disk is full, they are not in the run's files. */
  readonly diskEvents: RunEvent[];
}

const initialRank: LiveRank = {
  state: 'starting',
  epoch: 0,
  step: 0,
  pid: null,
  samplesPerSecond: null,
  memoryBytes: null,
};

/** The runs that this process trains. They continue whether or not a page shows them, and end with the process. */
export class LiveRuns {
  readonly #hub: Hub;
  readonly #onError: (error: unknown) => void;
  readonly #training: TrainingWork;
  readonly #runs = new Map<string, LiveRun>();
  readonly #endings = new Set<Promise<void>>();
  readonly #listeners = new Set<(id: string, update: RunUpdate) => void>();

  /**
   * @param onError called for a run that failed because its files could not be written
   * @param training counts and follows the runs
   */
  constructor(hub: Hub, onError: (error: unknown) => void, training = new TrainingWork()) {
    this.#hub = hub;
    this.#onError = onError;
    this.#training = training;
  }

  get(id: string): LiveRun | undefined {
    return this.#runs.get(id);
  }

  get size(): number {
    return this.#runs.size;
  }

  /** Calls the listener with all updates of the runs of this process. @returns a function that unsubscribes */
  subscribe(listener: (id: string, update: RunUpdate) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Starts a run. Resolves once it is on disk and its workers are about to start. @throws if it cannot start */
  start(planned: PlannedRun): Promise<void> {
    return this.#run(planned.id, (listener) => this.#hub.start(planned, listener));
  }

  /** Starts a fork, as {@link start} starts a run. */
  fork(planned: PlannedFork): Promise<void> {
    return this.#run(planned.record.id, (listener) => this.#hub.fork(planned, listener));
  }

  /** Resumes a run with some options changed, as {@link start} starts one. */
  resume(id: string, override: PlainObject, options: ResumeOptions): Promise<void> {
    return this.#run(id, (listener) => this.#hub.resume(id, override, listener, options));
  }

  /**
   * Sends a request to the process that trains the run, this one or another.
   * @throws Error with the reason for a refusal
   */
  async control(id: string, request: ControlRequest): Promise<void> {
    const session = this.#runs.get(id)?.session;
    if (session === undefined) await this.#hub.control(id, request);
    else if (request.action === 'abort') session.abort();
    else session.control(request);
  }

  /** Aborts all runs. Resolves once their workers have ended and their records are written. */
  async close(): Promise<void> {
    for (const { session } of this.#runs.values()) session.abort();
    await Promise.all(this.#endings);
  }

  async #run(id: string, open: (listener: RunListener) => RunSession | Promise<RunSession>): Promise<void> {
    const begun = Promise.withResolvers<void>();
    let hasBegun = false;
    const session = await open((update) => {
      this.#take(id, update);
      // A resume has begun once it trains. If it fails earlier, it has changed nothing, and the caller gets the error.
      hasBegun ||= update.type === 'record' && update.record.attempts.at(-1)?.from !== undefined;
      // The page shows that it waits for space on the disk.
      hasBegun ||= update.type === 'event' && update.event.kind === 'disk-full';
      if (hasBegun) begun.resolve();
    });
    if (this.#runs.has(id)) throw new Error(`The run ${id} is already training.`);
    this.#runs.set(id, { session, facts: null, ranks: new Map(), evaluatedSets: [], diskEvents: [] });
    const endWork = this.#training.begin();
    const ending = session
      .run()
      .then(
        () => begun.resolve(),
        (error: unknown) => (hasBegun ? this.#onError(error) : begun.reject(error)),
      )
      .finally(() => {
        this.#runs.delete(id);
        this.#endings.delete(ending);
        endWork();
      });
    this.#endings.add(ending);
    await begun.promise;
  }

  #take(id: string, update: RunUpdate): void {
    const run = this.#runs.get(id);
    if (run === undefined) return;
    if (update.type === 'described') run.facts = update.about;
    if (update.type === 'evaluated') run.evaluatedSets.push(update.set);
    if (update.type === 'event' && isDiskEvent(update.event)) run.diskEvents.push(update.event);
    if (update.type === 'worker' || update.type === 'progress') {
      const { type: _type, rank, ...news } = update;
      run.ranks.set(rank, { ...(run.ranks.get(rank) ?? initialRank), ...news });
    }
    this.#training.take(id, update);
    for (const listener of this.#listeners) listener(id, update);
  }
}
