import type { Blas } from '../../protocol/blas.ts';
import { explainMissingOps } from './missing-ops.ts';

/** Where tensors live, and what a run records about it. */
export interface Backend {
  readonly kind: BackendKind;
  /** For people, e.g. `wasm + OpenBLAS (SkylakeX)`. */
  readonly description: string;
  /** Bytes that tensors and the backend's buffers take at present. */
  memoryBytes(): number;
}

export type BackendKind = 'wasm' | 'tensorflow' | 'cpu';

const backends: Record<BackendKind, () => Promise<{ start: (options: { blas: Blas | null }) => Promise<Backend> }>> = {
  wasm: () => import('./wasm.ts'),
  tensorflow: () => import('./tensorflow.ts'),
  cpu: () => import('./cpu.ts'),
};

/**
 * Loads a backend and makes it TensorFlow.js's current one. `auto` takes the fastest that this build has.
 * @param blas the system's BLAS that matrix products on wasm use; null: own kernels
 */
export async function startBackend(choice: BackendKind | 'auto', blas: Blas | null = null): Promise<Backend> {
  const kind = choice === 'auto' ? 'wasm' : choice;
  const { start } = await backends[kind]();
  const backend = await start({ blas });
  explainMissingOps(kind);
  return backend;
}
