import { setTimeout as wait } from 'node:timers/promises';
import { messageOf } from '../../../core/text/errors.ts';
import type { Device, LoadSample } from '../../../core/protocol/machine/devices.ts';
import { loadReader } from '../../devices/loads.ts';

const everyMs = 1_000;
/** Samples in an attempt's first hour. Each later hour has fewer, so that a month of training has about 25,000. */
const samplesAnHour = 3_600;

export interface LoadListener {
  sampled(sample: LoadSample): void;
  /** A load cannot be read. Called once for each reason. */
  failed(reason: string): void;
}

/** Samples the loads of a run's devices while it trains: every second at first, less often after the first hour. */
export class LoadSampler {
  readonly #ending = new AbortController();
  readonly #sampling: Promise<void>;

  constructor(devices: readonly Device[], listener: LoadListener) {
    this.#sampling = sample(devices, listener, this.#ending.signal);
  }

  /** Resolves once no more samples come. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#sampling;
  }
}

async function sample(devices: readonly Device[], listener: LoadListener, signal: AbortSignal): Promise<void> {
  const startedMs = performance.now();
  const read = loadReader(devices);
  const reported = new Set<string>();
  const fail = (reason: string): void => {
    if (!reported.has(reason)) listener.failed(reason);
    reported.add(reason);
  };
  while (!signal.aborted) {
    try {
      const { loads, notes } = await read();
      notes.forEach(fail);
      listener.sampled({ time: new Date().toISOString(), loads });
    } catch (error) {
      fail(messageOf(error));
    }
    const restMs = Math.max(everyMs, (performance.now() - startedMs) / samplesAnHour);
    // The wait rejects when it is aborted, which the loop's condition checks.
    await wait(restMs, undefined, { signal }).catch(() => undefined);
  }
}
