import { z } from 'zod';
import { tutti } from '../../text/program.ts';

/**
 * A device that a rank can run on: a GPU or one CPU core. `webgpu-cpu` is WebGPU on the CPU, for instance by
 * SwiftShader.
 */
export const deviceSchema = z.strictObject({
  /**
   * Stable name, as selections use it: `cuda:0`, `webgpu:1`, `cpu:0`; on several nodes with the node before it:
   * `node2/cuda:0`.
   */
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
  /**
   * The node of a launch on several nodes, and the world rank of the task there that starts its workers; absent on one
   * machine.
   */
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

/**
 * All forms of PyTorch Lightning's `devices`, plus kinds and `idle`: 2, [0, 2], "0,2", -1, "all", "auto", "idle",
 * "cpu", "cuda:0,1".
 */
export const deviceSelectionSchema = z.union([z.int(), z.array(z.int().min(0)).min(1), z.string().min(1)]);
export type DeviceSelection = z.output<typeof deviceSelectionSchema>;

/** The device and the wave of a rank. Ranks of one wave train at the same time. */
export const placementSchema = z.strictObject({
  rank: z.int().min(0),
  wave: z.int().min(0),
  device: deviceSchema,
  /** One worker trains the ranks of a stack as one computation; absent: the rank has a separate worker. */
  stack: z.int().min(0).optional(),
  /** Threads of the rank's worker; absent: one. */
  threads: z.int().min(2).optional(),
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

/** What `tutti setup --webgpu` leaves in its folder, as `build.json`: versions of the npm packages. */
export const webgpuBuildSchema = z.strictObject({ webgpu: z.string(), tfjsBackendWebgpu: z.string() });
export type WebgpuBuild = z.output<typeof webgpuBuildSchema>;

/** Names the folder of the WebGPU build to every process that Tutti starts. */
export const webgpuFolderVariable = 'TUTTI_WEBGPU';

/** Names the adapter of a rank's device to its worker. Without it a process takes the first that is a GPU. */
export const webgpuAdapterVariable = 'TUTTI_WEBGPU_ADAPTER';

/** What to do where the WebGPU build is missing or damaged. */
export const webgpuSetupRemedy = `Run ${tutti} setup --webgpu, or train with --backend wasm.`;

/** What to do where Dawn finds no GPU, on a platform as Node names it. */
export function webgpuDriverRemedy(platform: string): string {
  if (platform === 'linux')
    return "Install the GPU's Vulkan driver, and Vulkan's loader (on Debian and Ubuntu: apt install libvulkan1).";
  return platform === 'win32' ? "Install the driver of the GPU's maker." : 'It needs a system with Metal.';
}

/** A GPU as Dawn lists it, or a program that stands in for one. Several may have one name. */
const webgpuAdapterSchema = z.strictObject({
  name: z.string(),
  /** It computes on the CPU, as SwiftShader and lavapipe do. */
  isSoftware: z.boolean(),
});
export type WebgpuAdapter = z.output<typeof webgpuAdapterSchema>;

/** What `workers/entries/list-adapters.ts` answers. */
export const adaptersReplySchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('listed'), adapters: z.array(webgpuAdapterSchema) }),
  z.strictObject({ kind: z.literal('failed'), reason: z.string() }),
]);
export type AdaptersReply = z.output<typeof adaptersReplySchema>;

const blasKindSchema = z.enum(['OpenBLAS', 'BLIS', 'MKL', 'Accelerate']);
export type BlasKind = z.output<typeof blasKindSchema>;

/** A system's BLAS (Basic Linear Algebra Subprograms), and how every rank of a run loads it. */
export const blasSchema = z.strictObject({
  kind: blasKindSchema,
  /** The library's file. */
  library: z.string(),
  /** The processor whose kernels OpenBLAS must use (`OPENBLAS_CORETYPE`); null: OpenBLAS chooses. */
  coreType: z.string().nullable(),
});
export type Blas = z.output<typeof blasSchema>;

/** The file of the OpenBLAS that `tutti setup --blas` fetches. */
export const ownBlasName = (platform: string): string =>
  `libscipy_openblas.${{ darwin: 'dylib', win32: 'dll' }[platform] ?? 'so'}`;

/** The task of a probing process: measure TensorFlow.js on a backend, or the matrix products of a BLAS. */
export const probeTaskSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('backend'),
    backend: z.enum(['wasm', 'tensorflow', 'webgpu', 'cpu']),
    blas: blasSchema.nullable(),
  }),
  z.strictObject({ kind: z.literal('blas'), blas: blasSchema }),
]);
export type ProbeTask = z.output<typeof probeTaskSchema>;

/**
 * `description` is for users; `gflops` is the speed of the matrix products of a dense layer's training, on one core.
 */
export const probeReplySchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('measured'), description: z.string(), gflops: z.number() }),
  z.strictObject({ kind: z.literal('unusable'), reason: z.string() }),
]);
export type ProbeReply = z.output<typeof probeReplySchema>;

/** A path below the folder of the build: the file must not lead the loader elsewhere. */
const inside = z
  .string()
  .refine(
    (path) => !/^([/\\]|[A-Za-z]:)|(^|[/\\])\.\.([/\\]|$)/.test(path),
    'must be a path below the folder of build.json',
  );

/** What `tutti setup` leaves beside the libraries it set up, as `build.json`. Paths are relative to its folder. */
export const nativeBuildSchema = z.strictObject({
  tensorflow: z.string(),
  tfjsNode: z.string(),
  hasCuda: z.boolean(),
  binding: inside,
  /** Where the system's loader finds the CUDA libraries that TensorFlow opens by name. */
  libraryFolders: z.array(inside),
});
export type NativeBuild = z.output<typeof nativeBuildSchema>;

/** What to do where the TensorFlow build is missing or damaged. */
export const nativeSetupRemedy = `Run ${tutti} setup (with --gpu for NVIDIA GPUs), or train with --backend wasm.`;

/** Names the folder of the native TensorFlow to every process that Tutti starts. */
export const nativeFolderVariable = 'TUTTI_TENSORFLOW';
