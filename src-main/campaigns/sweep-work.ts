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
import { CampaignDriver, type CampaignEnd, type CampaignPolicy, type Choice } from './driver.ts';
import { planSweepRun, type SweepPlan, sweepRunFolder } from './sweep-plan.ts';
import { CampaignRun, type CampaignWork } from './work.ts';

/** What happens to one run of a sweep. */
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
export class SweepWork implements CampaignPolicy<SweepRun> {
  readonly mostFailures = 3;
  readonly places: number;
  readonly #options: SweepWorkOptions;
  readonly #driver: CampaignDriver<SweepRun>;
  #next = 0;
  /** The devices of each place; empty where a single run trains on all. */
  #shares: readonly string[] = [];

  constructor(options: SweepWorkOptions) {
    this.#options = options;
    this.places = Math.min(options.parallel, options.plan.sweep.of);
    this.#driver = new CampaignDriver(this);
  }

  /** Stops the runs that train jointly, and begins no more. */
  stop(): void {
    this.#driver.stop();
  }

  /** Ends the runs that train at once. */
  abort(): void {
    this.#driver.abort();
  }

  /** @throws Error if a run cannot be started, or its record not be read */
  async run(): Promise<CampaignEnd> {
    if (this.places > 1) this.#shares = await this.#devicesOfPlaces();
    return this.#driver.run();
  }

  async choose(place: number): Promise<Choice<SweepRun>> {
    if (this.#next === this.#options.plan.sweep.of) return { kind: 'done' };
    return { kind: 'begin', works: [new SweepRun(this.#options, this.#next++, this.#shares.at(place))] };
  }

  async #devicesOfPlaces(): Promise<string[]> {
    const { hub, plan } = this.#options;
    const { devices: selection, backend } = resolveConfig(plan.project, [plan.overrides]);
    const { devices } = await hub.devices();
    const ids = selectDevices(selection, devices, usableKinds(backend)).map(({ id }) => id);
    return sharePlaces(ids, this.places);
  }
}

/** A run of a sweep, as far as it is left to do. */
class SweepRun implements CampaignWork {
  readonly #options: SweepWorkOptions;
  readonly #index: number;
  readonly #folder: string;
  readonly #devices: string | undefined;
  readonly #run = new CampaignRun();

  /** @param devices on which it trains; undefined: those of the configuration */
  constructor(options: SweepWorkOptions, index: number, devices: string | undefined) {
    this.#options = options;
    this.#index = index;
    this.#folder = sweepRunFolder(options.plan, index);
    this.#devices = devices;
  }

  stop(): void {
    this.#run.stop();
  }

  abort(): void {
    this.#run.abort();
  }

  async finish(): Promise<'done' | 'failed' | 'left'> {
    const { listener } = this.#options;
    const folder = this.#folder;
    const earlier = holdsRun(folder) ? await markInterrupted(folder) : null;
    if (earlier?.status === 'finished') return this.#leave('an earlier one', earlier);
    if (earlier !== null && isHubAlive(folder)) return this.#leave('another process', await readRunRecord(folder));
    try {
      listener({ type: 'begun', ...this.#place, isResumed: earlier !== null });
      const record = await this.#run.train(await this.#open(earlier !== null));
      listener({ type: 'ended', ...this.#place, by: 'this process', record });
      return record.status === 'failed' ? 'failed' : 'done';
    } catch (error) {
      // Another process may have begun it in the meantime.
      if (!holdsRun(folder) || !isHubAlive(folder)) throw error;
      return this.#leave('another process', await readRunRecord(folder));
    }
  }

  get #place() {
    const { sweep } = this.#options.plan;
    return { index: this.#index, seed: repeatedSeed(sweep.seed, this.#index), folder: this.#folder };
  }

  #leave(by: 'an earlier one' | 'another process', record: RunRecord): 'left' {
    this.#options.listener({ type: 'ended', ...this.#place, by, record });
    return 'left';
  }

  async #open(isBegun: boolean): Promise<RunSession> {
    const { hub, plan, listener, isCurrentSource: currentSource = false } = this.#options;
    const index = this.#index;
    const devices = this.#devices;
    const tell = (update: RunUpdate): void => listener({ type: 'update', index, update });
    if (!isBegun) return hub.start(await planSweepRun(hub, plan, index, devices), tell);
    return hub.resume(this.#folder, devices === undefined ? {} : { devices }, tell, { currentSource });
  }
}
