import type { Device, DeviceLoad } from '../../core/protocol/machine/devices.ts';
import { type CommandRunner, commandRunner } from '../processes/command.ts';
import { coreLoads, type Cores, machineCores } from './cores.ts';
import { queryGpus } from './nvidia.ts';

/** Longer than a loaded driver takes. A slower answer would describe another moment. */
const toolTimeoutMs = 5_000;

export interface LoadReading {
  loads: DeviceLoad[];
  /** Why loads are missing. */
  notes: string[];
}

/**
 * Reads the loads of some devices as means since the last reading (for GPUs: over the last second or less, as their
 * driver reports). The first reading has no loads: it only starts the measurement, so that later readings do not seem
 * to continue an earlier attempt. Only NVIDIA's driver is queried; the loads of other GPUs are unknown.
 */
export function loadReader(
  devices: readonly Device[],
  options: { run?: CommandRunner; cores?: Cores } = {},
): () => Promise<LoadReading> {
  const { run = commandRunner(toolTimeoutMs), cores = machineCores } = options;
  const measureCores = coreLoads(cores);
  const hasGpus = devices.some(({ kind }) => kind === 'cuda');
  let isFirst = true;
  return async () => {
    const { gpus, failure, notes } = hasGpus ? await queryGpus(run) : { gpus: [], failure: null, notes: [] };
    const cpuLoads = measureCores();
    const loads = devices.map(({ id, kind, index }): DeviceLoad => {
      const gpu = isFirst
        ? undefined
        : kind === 'cuda'
          ? gpus.find(({ device }) => device.index === index)?.device
          : undefined;
      const cpuLoad = kind === 'cpu' && !isFirst ? cpuLoads.at(index) : undefined;
      return { device: id, load: cpuLoad ?? gpu?.load ?? null, memoryUsedBytes: gpu?.memoryUsedBytes ?? null };
    });
    isFirst = false;
    return { loads, notes: failure === null ? notes : [`${failure} The loads of GPUs are unknown.`] };
  };
}
