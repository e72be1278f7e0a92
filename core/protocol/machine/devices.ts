import { z } from 'zod';

/** What a rank can run on: a GPU, or one CPU core. `webgpu-cpu` is WebGPU on the CPU, as SwiftShader does it. */
export const deviceSchema = z.strictObject({
  /** Stable name, as selections use it: `cuda:0`, `webgpu:1`, `cpu:0`. */
  id: z.string(),
  kind: z.enum(['cuda', 'webgpu', 'rocm', 'cpu', 'webgpu-cpu']),
  index: z.int().min(0),
  /** The maker's name of the device. */
  name: z.string(),
  /** Null where the device does not tell (a CPU core has no memory of its own). */
  memoryTotalBytes: z.number().nullable(),
  memoryUsedBytes: z.number().nullable(),
  /** Share of time the device is busy, 0 to 1. */
  load: z.number().min(0).max(1).nullable(),
  /** Other processes that compute on it. */
  processCount: z.int().min(0).nullable(),
  /** Where it is plugged in, e.g. `0000:03:00.0`, for WebGPU adapters that only this tells apart. */
  pciAddress: z.string().optional(),
  /** Why nothing can compute on it, though its kind can be computed on. */
  unusable: z.string().optional(),
});
export type Device = z.output<typeof deviceSchema>;

/** The result of detecting devices. */
export interface Detected {
  devices: Device[];
  /** What could not be detected, and why: one or two sentences each, for the user. */
  notes: string[];
}

/** Every form that PyTorch Lightning's `devices` takes, plus kinds and `idle`: 2, [0, 2], "0,2", -1, "all", "auto", "idle", "cpu", "cuda:0,1". */
export const deviceSelectionSchema = z.union([z.int(), z.array(z.int().min(0)).min(1), z.string().min(1)]);
export type DeviceSelection = z.output<typeof deviceSelectionSchema>;

/** Where a rank runs, and when: ranks of one wave train at the same time. */
export const placementSchema = z.strictObject({
  rank: z.int().min(0),
  wave: z.int().min(0),
  device: deviceSchema,
  /** Ranks of the same stack are trained as one computation by one worker; absent: the rank has a worker of its own. */
  stack: z.int().min(0).optional(),
});
export type Placement = z.output<typeof placementSchema>;
