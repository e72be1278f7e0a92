import { detectAmd } from './amd.ts';
import { commandRunner, type CommandRunner } from '../processes/command.ts';
import type { Detected } from '../../core/protocol/machine/devices.ts';
import { detectCores, machineCores, type Cores } from './cores.ts';
import { machineAdapters } from './webgpu-adapters.ts';
import { detectNvidia } from './nvidia.ts';
import { type AdapterSources, detectWebgpu } from './webgpu.ts';

/** A GPU whose driver is not kept loaded takes seconds to answer the first query. */
const toolTimeoutMs = 15_000;

export type DetectionOptions = {
  run?: CommandRunner;
  cores?: Cores;
  adapters?: AdapterSources;
  /** How long to watch the CPU cores for their load, in ms; 0 leaves it unmeasured. */
  coreLoadWindowMs?: number;
};

/**
 * All devices of this machine: NVIDIA GPUs, WebGPU adapters (the same GPUs, and others), AMD GPUs, then CPU cores. A tool that is missing
 * or fails only hides its GPUs, with a note in `notes`. It never makes detection fail.
 */
export async function detectDevices(options: DetectionOptions = {}): Promise<Detected> {
  const { run = commandRunner(toolTimeoutMs), cores = machineCores, coreLoadWindowMs = 0 } = options;
  const { adapters = machineAdapters } = options;
  const [nvidia, webgpu, amd, coreDevices] = await Promise.all([
    detectNvidia(run),
    detectWebgpu(adapters),
    detectAmd(run),
    detectCores(cores, coreLoadWindowMs),
  ]);
  return {
    devices: [...nvidia.devices, ...webgpu.devices, ...amd.devices, ...coreDevices],
    notes: [...nvidia.notes, ...webgpu.notes, ...amd.notes],
  };
}
