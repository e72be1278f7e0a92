import { availableParallelism, cpus } from 'node:os';
import type { CpuInfo } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import type { Device } from '../../core/protocol/machine/devices.ts';

export type Cores = {
  /**
   * Number of cores that this process may use: fewer than the machine has under an affinity mask or a container's
   * quota.
   */
  count: number;
  /** Model and time counters of the machine's cores. */
  read: () => CpuInfo[];
};

export const machineCores: Cores = { count: availableParallelism(), read: cpus };

/**
 * CPU cores as devices `cpu:0` to `cpu:n-1`. Their load is measured over `loadWindowMs`. It is null for a window of 0,
 * and if this process may use only some cores, because Node does not report which ones.
 */
export async function detectCores(cores: Cores, loadWindowMs: number): Promise<Device[]> {
  const measureLoads = coreLoads(cores);
  if (loadWindowMs > 0) await wait(loadWindowMs);
  const loads = loadWindowMs > 0 ? measureLoads() : [];
  const models = cores.read();
  return Array.from({ length: cores.count }, (_, index) => ({
    id: `cpu:${index}`,
    kind: 'cpu',
    index,
    name: models.at(index)?.model.trim() || 'CPU core',
    memoryTotalBytes: null,
    memoryUsedBytes: null,
    load: loads.at(index) ?? null,
    processCount: null,
  }));
}

/**
 * Measures the load of each core since this call, then since the last measurement. Returns no loads if this process may
 * use only some cores, because Node does not report which ones.
 */
export function coreLoads(cores: Cores): () => (number | null)[] {
  let before = cores.read();
  return () => {
    const after = cores.read();
    const isWhole = [before, after].every(({ length }) => length === cores.count);
    const loads = isWhole ? after.map((core, index) => loadBetween(before[index], core)) : [];
    before = after;
    return loads;
  };
}

/** Share of the time between two readings in which a core was not idle; null if no time has passed. */
function loadBetween(before: CpuInfo, after: CpuInfo): number | null {
  const elapsed = totalTime(after) - totalTime(before);
  if (elapsed <= 0) return null;
  const idle = after.times.idle - before.times.idle;
  return Math.min(1, Math.max(0, 1 - idle / elapsed));
}

function totalTime({ times }: CpuInfo): number {
  return times.user + times.nice + times.sys + times.idle + times.irq;
}
