import { detectAmd } from './amd.ts';
import { commandRunner } from './command.ts';
import type { CommandRunner } from './command.ts';
import { detectCores, machineCores } from './cores.ts';
import type { Cores } from './cores.ts';
import type { Detected } from './detected.ts';
import { detectNvidia } from './nvidia.ts';

/** A GPU whose driver is not kept loaded takes seconds to answer the first query. */
const toolTimeoutMs = 15_000;

export type DetectionOptions = {
  run?: CommandRunner;
  cores?: Cores;
  /** How long to watch the CPU cores for their load, in ms; 0 leaves it unmeasured. */
  coreLoadWindowMs?: number;
};

/**
 * All devices of this machine: NVIDIA GPUs, AMD GPUs, then CPU cores. A vendor's tool that is missing or fails costs its
 * GPUs and is told in `notes`; it never makes detection fail.
 */
export async function detectDevices(options: DetectionOptions = {}): Promise<Detected> {
  const { run = commandRunner(toolTimeoutMs), cores = machineCores, coreLoadWindowMs = 0 } = options;
  const [nvidia, amd, coreDevices] = await Promise.all([
    detectNvidia(run),
    detectAmd(run),
    detectCores(cores, coreLoadWindowMs),
  ]);
  return {
    devices: [...nvidia.devices, ...amd.devices, ...coreDevices],
    notes: [...nvidia.notes, ...amd.notes],
  };
}
