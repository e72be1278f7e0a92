import { z } from 'zod';

/** A device that a rank can run on: a GPU or one CPU core. `webgpu-cpu` is WebGPU on the CPU, for instance by SwiftShader. */
export const deviceSchema = z.strictObject({
  /** Stable name, as selections use it: `cuda:0`, `webgpu:1`, `cpu:0`; on several nodes with the node before it: `node2/cuda:0`. */
  id: z.string(),
  kind: z.enum(['cuda', 'webgpu', 'rocm', 'cpu', 'webgpu-cpu']),
  index: z.int().min(0),
  /** The maker's name of the device. */
  name: z.string(),
  /** Null if the device does not report it (a CPU core has no separate memory). */
  memoryTotalBytes: z.number().nullable(),
  memoryUsedBytes: z.number().nullable(),
  /** Share of time the device is busy, 0 to 1. */
  load: z.number().min(0).max(1).nullable(),
  /** Number of other processes that compute on it. */
  processCount: z.int().min(0).nullable(),
  /** PCI address, e.g. `0000:03:00.0`, of a WebGPU adapter that shares its name with another one. */
  pciAddress: z.string().optional(),
  /** The node of a launch on several nodes, and the world rank of the task there that starts its workers; absent on one machine. */
  node: z.strictObject({ name: z.string(), task: z.int().min(0) }).optional(),
  /** Why this device cannot be used although a backend supports its kind. */
  unusable: z.string().optional(),
});
export type Device = z.output<typeof deviceSchema>;

/** The result of detecting devices. */
export interface Detected {
  devices: Device[];
  /** What could not be detected, and why: one or two sentences each, for the user. */
  notes: string[];
}

/** All forms of PyTorch Lightning's `devices`, plus kinds and `idle`: 2, [0, 2], "0,2", -1, "all", "auto", "idle", "cpu", "cuda:0,1". */
export const deviceSelectionSchema = z.union([z.int(), z.array(z.int().min(0)).min(1), z.string().min(1)]);
export type DeviceSelection = z.output<typeof deviceSelectionSchema>;

/** The device and the wave of a rank. Ranks of one wave train at the same time. */
export const placementSchema = z.strictObject({
  rank: z.int().min(0),
  wave: z.int().min(0),
  device: deviceSchema,
  /** One worker trains the ranks of a stack as one computation; absent: the rank has a separate worker. */
  stack: z.int().min(0).optional(),
});
export type Placement = z.output<typeof placementSchema>;

/** The load of a device since the last reading. Null: the device does not report it, or there is no earlier reading. */
const deviceLoadSchema = z.strictObject({
  /** `cuda:0`, `cpu:1`. */
  device: z.string(),
  /** Share of time in which any process used it, 0 to 1. */
  load: z.number().min(0).max(1).nullable(),
  memoryUsedBytes: z.number().nullable(),
});
export type DeviceLoad = z.output<typeof deviceLoadSchema>;

/** The loads of devices at one moment. */
export const loadSampleSchema = z.strictObject({
  /** ISO 8601. */
  time: z.string(),
  loads: z.array(deviceLoadSchema),
});
export type LoadSample = z.output<typeof loadSampleSchema>;

/** The loads of one device over time, ascending; NaN if unknown. */
export interface DeviceLoadColumns {
  device: string;
  /** Milliseconds since 1970, at the end of the interval over which each load is the mean. */
  timeMs: Float64Array;
  load: Float64Array;
  memoryBytes: Float64Array;
}
