import { z } from 'zod';

/** What a rank can run on: a GPU, or one CPU core. */
export const deviceSchema = z.strictObject({
  /** Stable name, as selections use it: `cuda:0`, `rocm:1`, `cpu:0`. */
  id: z.string(),
  kind: z.enum(['cuda', 'rocm', 'cpu']),
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
});
export type Device = z.output<typeof deviceSchema>;

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
