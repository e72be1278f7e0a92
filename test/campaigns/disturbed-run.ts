import { existsSync, watch } from 'node:fs';
import type { RunConfigInput } from '../../core/protocol/run/config.ts';
import type { Generator } from '../../workers/random/index.ts';
import { isRunning } from '../integration/harness.ts';
import { HubUnderFire } from './hub-under-fire.ts';
import type { Kill } from './kills-log.ts';
import { readFinished, readInterrupted } from './read-back.ts';

/** A run of the same configuration that nobody disturbed. */
export interface Reference {
  folder: string;
  durationMs: number;
}

/** Workers leave after at most 4 s; the rest is for a busy machine. */
const gonePatienceMs = 10_000;

/**
 * Trains one run under one to three kills at random moments, lets Tutti recover each time, and reads back what is on
 * the disk.
 */
export class RunUnderFire {
  readonly kills: Kill[] = [];
  readonly losses: string[] = [];
  readonly #folder: string;
  readonly #config: RunConfigInput;
  readonly #reference: Reference;
  readonly #random: Generator;
  /** Every worker of the hubs so far. */
  readonly #pids = new Set<number>();

  constructor(folder: string, config: RunConfigInput, reference: Reference, random: Generator) {
    this.#folder = folder;
    this.#config = config;
    this.#reference = reference;
    this.#random = random;
  }

  /** @param mostKills at least 1 */
  async run(mostKills: number): Promise<void> {
    const wanted = 1 + this.#random.integer(Math.min(3, mostKills));
    let hub = new HubUnderFire(this.#folder, this.#config);
    let recovering: Promise<void> | null = null;
    while (this.kills.length < wanted) {
      const kill = this.#drawKill();
      const isDue = await this.#untilDue(hub, kill.isWhileWriting);
      if (!isDue) break;
      if (kill.target === 'worker') await this.#killWorker(hub, kill);
      else {
        const killedMs = await this.#killHub(hub, kill);
        await recovering;
        hub = new HubUnderFire(this.#folder, this.#config);
        recovering = this.#timeRecovery(hub, kill, killedMs);
      }
    }
    await hub.ended;
    await recovering;
    await this.#untilGone(hub);
    this.losses.push(...(await this.#reading(readFinished)));
  }

  #drawKill(): Kill {
    const target = this.#random.uniform() < 0.5 ? 'hub' : 'worker';
    const isWhileWriting = this.#random.uniform() < 0.5;
    const isResumedAtOnce = this.#random.uniform() < 0.5;
    return { target, isWhileWriting, recoveryMs: null, ...(target === 'hub' && { isResumedAtOnce }) };
  }

  /** Waits for a random time, and then until a file is being written. @returns false if the run ended before */
  async #untilDue(hub: HubUnderFire, isWhileWriting: boolean): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<true>();
    const timeout = setTimeout(() => resolve(true), 0.7 * this.#random.uniform() * this.#reference.durationMs);
    const over = hub.ended.then(() => false);
    const isDue = await Promise.race([promise, over]);
    clearTimeout(timeout);
    if (!isDue || !isWhileWriting || !existsSync(this.#folder)) return isDue;
    const writing = Promise.withResolvers<true>();
    const watcher = watch(this.#folder, { recursive: true }, (_event, name) => {
      if (name !== null && /^(checkpoints|state)\/.*\.(tmp|next)$/.test(name)) writing.resolve(true);
    });
    const isWriting = await Promise.race([writing.promise, over]);
    watcher.close();
    return isWriting;
  }

  async #killWorker(hub: HubUnderFire, kill: Kill): Promise<void> {
    const pids = [...new Set(hub.workers.values())].filter(isRunning);
    // Between two waves, or before the first process has started: another moment is drawn.
    if (pids.length === 0) return;
    const killedMs = performance.now();
    process.kill(pids[this.#random.integer(pids.length)], 'SIGKILL');
    this.kills.push(kill);
    await this.#timeRecovery(hub, kill, killedMs);
  }

  /** @returns when the hub was killed, moved by the time for reading back */
  async #killHub(hub: HubUnderFire, kill: Kill): Promise<number> {
    const killedMs = performance.now();
    hub.kill();
    this.kills.push(kill);
    await hub.ended;
    for (const pid of hub.everyPid) this.#pids.add(pid);
    if (kill.isResumedAtOnce === true) return killedMs;
    await this.#untilGone(hub);
    const readMs = performance.now();
    this.losses.push(...(await this.#reading(readInterrupted)));
    return killedMs + performance.now() - readMs;
  }

  async #timeRecovery(hub: HubUnderFire, kill: Kill, killedMs: number): Promise<void> {
    const outcome = await Promise.race([hub.stepping().then(() => 'stepping' as const), hub.ended]);
    if (outcome === 'stepping') kill.recoveryMs = Math.round(performance.now() - killedMs);
  }

  async #reading(read: (folder: string, undisturbed: string) => Promise<string[]>): Promise<string[]> {
    try {
      return await read(this.#folder, this.#reference.folder);
    } catch (error) {
      return [`cannot be read: ${error instanceof Error ? error.message : String(error)}`];
    }
  }

  /** Workers that outlive their hub count as a loss. */
  async #untilGone(hub: HubUnderFire): Promise<void> {
    for (const pid of hub.everyPid) this.#pids.add(pid);
    const limitMs = performance.now() + gonePatienceMs;
    while ([...this.#pids].some(isRunning)) {
      if (performance.now() > limitMs) {
        this.losses.push(`a worker outlived its hub by more than ${gonePatienceMs / 1000} s`);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Trains a run that nobody disturbs. */
export async function trainUndisturbed(folder: string, config: RunConfigInput): Promise<Reference> {
  const startMs = performance.now();
  const status = await new HubUnderFire(folder, config).ended;
  if (status !== 'finished') throw new Error(`The undisturbed run in ${folder} ended as ${status}.`);
  return { folder, durationMs: performance.now() - startMs };
}
