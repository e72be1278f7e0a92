import type { WorkerState } from '../../core/protocol/run/messages.ts';
import type { PlainObject } from '../../core/options/index.ts';
import type { ControlRequest } from '../../core/protocol/run/remote-control.ts';
import type { EvaluatedSet } from '../../core/protocol/run/record.ts';
import type { RunFacts, RunUpdate } from '../../core/protocol/pages/run-updates.ts';
import type { Hub } from './hub.ts';
import type { PlannedRun } from './plan-run.ts';
import type { RunListener } from '../runs/recording/run-recorder.ts';
import type { RunSession } from '../runs/attempt/run-session.ts';

/** What a rank of a run in this process last said of itself. */
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
}

const unheard: LiveRank = {
  state: 'starting',
  epoch: 0,
  step: 0,
  pid: null,
  samplesPerSecond: null,
  memoryBytes: null,
};

/** The runs that this process trains: they go on whether or not a page looks at them, and end with the process. */
export class LiveRuns {
  readonly #hub: Hub;
  readonly #onError: (error: unknown) => void;
  readonly #runs = new Map<string, LiveRun>();
  readonly #endings = new Set<Promise<void>>();
  readonly #listeners = new Set<(id: string, update: RunUpdate) => void>();

  /** @param onError told of a run that broke off because its files could not be kept */
  constructor(hub: Hub, onError: (error: unknown) => void) {
    this.#hub = hub;
    this.#onError = onError;
  }

  get(id: string): LiveRun | undefined {
    return this.#runs.get(id);
  }

  get size(): number {
    return this.#runs.size;
  }

  /** Calls the listener with all that happens in the runs of this process. @returns ends that */
  subscribe(listener: (id: string, update: RunUpdate) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Starts a run. Resolves once it is on disk and its workers are about to start. @throws when it cannot begin */
  start(planned: PlannedRun): Promise<void> {
    return this.#run(planned.id, (listener) => this.#hub.start(planned, listener));
  }

  /** Goes on with a run, some of its options changed, as {@link start} does. */
  resume(id: string, override: PlainObject): Promise<void> {
    return this.#run(id, (listener) => this.#hub.resume(id, override, listener));
  }

  /** Asks whoever trains the run, this process or another one. @throws Error that says why it cannot be */
  async control(id: string, request: ControlRequest): Promise<void> {
    const session = this.#runs.get(id)?.session;
    if (session === undefined) await this.#hub.control(id, request);
    else if (request.action === 'abort') session.abort();
    else session.control(request);
  }

  /** Resolves once all that train now have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#endings);
  }

  /** Aborts all runs; resolves once their workers are gone and their records say so. */
  async close(): Promise<void> {
    for (const { session } of this.#runs.values()) session.abort();
    await this.ended();
  }

  async #run(id: string, open: (listener: RunListener) => RunSession | Promise<RunSession>): Promise<void> {
    const begun = Promise.withResolvers<void>();
    let hasBegun = false;
    const session = await open((update) => {
      this.#take(id, update);
      // Of a resume only once it trains: one that fails before that has changed nothing, and whoever asked for it learns why.
      hasBegun ||= update.type === 'record' && update.record.attempts.at(-1)?.from !== undefined;
      if (hasBegun) begun.resolve();
    });
    if (this.#runs.has(id)) throw new Error(`The run ${id} is being trained already.`);
    this.#runs.set(id, { session, facts: null, ranks: new Map(), evaluatedSets: [] });
    const ending = session
      .run()
      .then(
        () => begun.resolve(),
        (error: unknown) => (hasBegun ? this.#onError(error) : begun.reject(error)),
      )
      .finally(() => {
        this.#runs.delete(id);
        this.#endings.delete(ending);
      });
    this.#endings.add(ending);
    await begun.promise;
  }

  #take(id: string, update: RunUpdate): void {
    const run = this.#runs.get(id);
    if (run === undefined) return;
    if (update.type === 'described') run.facts = update.about;
    if (update.type === 'evaluated') run.evaluatedSets.push(update.set);
    if (update.type === 'worker' || update.type === 'progress') {
      const { type: _type, rank, ...news } = update;
      run.ranks.set(rank, { ...(run.ranks.get(rank) ?? unheard), ...news });
    }
    for (const listener of this.#listeners) listener(id, update);
  }
}
