import type { RunRecord } from '../../core/protocol/run/record.ts';
import type { RunUpdate } from '../../core/protocol/pages/run-updates.ts';
import { repeatedSeed } from '../../core/protocol/run/sweep/sweep.ts';
import { selectDevices } from '../devices/selection.ts';
import { sharePlaces } from '../devices/plan.ts';
import type { Hub } from '../hub/hub.ts';
import { usableKinds } from '../processes/native-build.ts';
import type { RunSession } from '../runs/attempt/run-session.ts';
import { resolveConfig } from '../runs/configuration/resolve-config.ts';
import { markInterrupted } from '../store/index/recovery.ts';
import { isHubAlive } from '../store/runs/hub-lock.ts';
import { holdsRun } from '../store/runs/known-folders.ts';
import { readRunRecord } from '../store/runs/run-folder.ts';
import { planSweepRun, type SweepPlan, sweepRunFolder } from './sweep-plan.ts';

/** So many runs in a row that fail in this process mean that the others would fail too. */
const mostFailures = 3;

/** What happens to one run of a sweep. `elsewhere`: another process trains it. */
export type SweepUpdate =
  | { type: 'begun'; index: number; seed: number; isResumed: boolean; folder: string }
  | { type: 'update'; index: number; update: RunUpdate }
  | {
      type: 'ended';
      index: number;
      seed: number;
      by: 'this process' | 'an earlier one' | 'another process';
      record: RunRecord;
      folder: string;
    };

/** How the work on a sweep ended in this process. */
export type SweepEnd = 'done' | 'stopped' | 'gave up';

export interface SweepWorkOptions {
  hub: Hub;
  plan: SweepPlan;
  /** Runs that train at a time. */
  parallel: number;
  /** Whether runs that were begun continue with the project's present code although it has changed. */
  isCurrentSource?: boolean;
  listener: (update: SweepUpdate) => void;
}

/**
 * Trains the runs of a sweep that have not finished, in the order of their seeds. Runs that an earlier process began
 * continue from their states, and those that another process trains now are left to it.
 */
export class SweepWork {
  readonly #options: SweepWorkOptions;
  readonly #sessions = new Set<RunSession>();
  readonly #waiting: number[];
  #end: 'stop' | 'abort' | null = null;
  #failures = 0;
  #shares: readonly string[] = [];

  constructor(options: SweepWorkOptions) {
    this.#options = options;
    this.#waiting = Array.from({ length: options.plan.sweep.of }, (_, index) => index);
  }

  /** Stops the runs that train jointly, and begins no more. */
  stop(): void {
    this.#end ??= 'stop';
    for (const session of this.#sessions) session.control({ action: 'stop' });
  }

  /** Ends the runs that train at once. */
  abort(): void {
    this.#end = 'abort';
    for (const session of this.#sessions) session.abort();
  }

  /** @throws Error if a run cannot be started, or its record not be read */
  async run(): Promise<SweepEnd> {
    const places = Math.min(this.#options.parallel, this.#options.plan.sweep.of);
    if (places > 1) this.#shares = await this.#sharesOf(places);
    const work = Array.from({ length: places }, (_, place) => this.#work(place));
    const ends = await Promise.allSettled(work);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    if (this.#failures >= mostFailures) return 'gave up';
    return this.#end === null ? 'done' : 'stopped';
  }

  /** A share of the devices for each run that trains at a time. */
  async #sharesOf(places: number): Promise<string[]> {
    const { hub, plan } = this.#options;
    const { devices: selection, backend } = resolveConfig(plan.project, [plan.overrides]);
    const { devices } = await hub.devices();
    const ids = selectDevices(selection, devices, usableKinds(backend)).map(({ id }) => id);
    return sharePlaces(ids, places);
  }

  /** Takes one run after the other, until none is left. */
  async #work(place: number): Promise<void> {
    try {
      while (this.#end === null && this.#failures < mostFailures) {
        const index = this.#waiting.shift();
        if (index === undefined) return;
        await this.#settle(index, place);
      }
    } catch (error) {
      // The other places end too, with states from which their runs go on.
      this.stop();
      throw error;
    }
  }

  async #settle(index: number, place: number): Promise<void> {
    const { plan, listener } = this.#options;
    const folder = sweepRunFolder(plan, index);
    const seed = repeatedSeed(plan.sweep.seed, index);
    const earlier = holdsRun(folder) ? await markInterrupted(folder) : null;
    if (earlier?.status === 'finished') {
      listener({ type: 'ended', index, seed, by: 'an earlier one', record: earlier, folder });
      return;
    }
    if (earlier !== null && isHubAlive(folder)) return this.#leave(index, folder);
    try {
      listener({ type: 'begun', index, seed, isResumed: earlier !== null, folder });
      const record = await this.#train(index, place, earlier === null ? null : folder);
      this.#failures = record.status === 'failed' ? this.#failures + 1 : 0;
      listener({ type: 'ended', index, seed, by: 'this process', record, folder });
    } catch (error) {
      // Another process may have begun it in the meantime.
      if (!holdsRun(folder) || !isHubAlive(folder)) throw error;
      await this.#leave(index, folder);
    }
  }

  async #leave(index: number, folder: string): Promise<void> {
    const { plan, listener } = this.#options;
    const seed = repeatedSeed(plan.sweep.seed, index);
    listener({ type: 'ended', index, seed, by: 'another process', record: await readRunRecord(folder), folder });
  }

  /** @param earlier the folder of a run that was begun before */
  async #train(index: number, place: number, earlier: string | null): Promise<RunRecord> {
    const { hub, plan, listener, isCurrentSource: currentSource = false } = this.#options;
    const devices = this.#shares.at(place);
    const tell = (update: RunUpdate): void => listener({ type: 'update', index, update });
    const session =
      earlier === null
        ? hub.start(await planSweepRun(hub, plan, index, devices), tell)
        : await hub.resume(earlier, devices === undefined ? {} : { devices }, tell, { currentSource });
    this.#sessions.add(session);
    try {
      const ended = session.run();
      // The user may have stopped the sweep while the run was planned.
      if (this.#end === 'abort') session.abort();
      else if (this.#end === 'stop') session.control({ action: 'stop' });
      return await ended;
    } finally {
      this.#sessions.delete(session);
    }
  }
}
