import type { Blas } from '../../core/protocol/machine/blas.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import { explainMissingOps } from './missing-ops.ts';

/** Where tensors live, and what a run records about it. */
export interface Backend {
  readonly kind: BackendKind;
  /** For people, e.g. `wasm + OpenBLAS (SkylakeX)`. */
  readonly description: string;
  /** Bytes that tensors and the backend's buffers take at present. */
  memoryBytes(): number;
}

export type BackendKind = 'wasm' | 'tensorflow' | 'webgpu' | 'cpu';

/** What the wasm backend computes with. */
export interface BackendOptions {
  /** The system's BLAS for matrix products; null: own kernels. */
  blas?: Blas | null;
  determinism?: RunConfig['determinism'];
}

const backends: Record<BackendKind, () => Promise<{ start: (options: BackendOptions) => Promise<Backend> }>> = {
  wasm: () => import('./wasm.ts'),
  tensorflow: () => import('./tensorflow.ts'),
  webgpu: () => import('./webgpu.ts'),
  cpu: () => import('./cpu.ts'),
};

/** Loads a backend and makes it TensorFlow.js's current one. `auto` takes the fastest that this build has. */
export async function startBackend(choice: BackendKind | 'auto', options: BackendOptions = {}): Promise<Backend> {
  const kind = choice === 'auto' ? 'wasm' : choice;
  const { start } = await backends[kind]();
  const backend = await start(options);
  explainMissingOps(kind);
  return backend;
}
