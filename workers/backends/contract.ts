import type { Blas } from '../../core/protocol/machine/blas.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';

/** A started backend: the place where tensors live, and what a run records about it. */
export interface Backend {
  readonly kind: BackendKind;
  /** For people, e.g. `wasm + OpenBLAS (SkylakeX)`. */
  readonly description: string;
  /** Bytes that tensors and the backend's buffers take at present. */
  memoryBytes(): number;
}

export type BackendKind = 'wasm' | 'tensorflow' | 'webgpu' | 'cpu';

/** Options of the wasm backend; other backends ignore them. */
export interface BackendOptions {
  /** The system's BLAS for matrix products; null: Tutti's own kernels. */
  blas?: Blas | null;
  determinism?: RunConfig['determinism'];
}
