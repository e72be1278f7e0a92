import { explainMissingOps } from './missing-ops.ts';

/** Where tensors live, and what a run records about it. */
export interface Backend {
  readonly kind: BackendKind;
  /** For people, e.g. `wasm (SIMD, one core)`. */
  readonly description: string;
  /** Bytes that tensors and the backend's buffers take at present. */
  memoryBytes(): number;
}

export type BackendKind = 'wasm' | 'cpu';

/** Loads a backend and makes it TensorFlow.js's current one. `auto` takes the fastest that this build has. */
export async function startBackend(choice: BackendKind | 'auto'): Promise<Backend> {
  const kind = choice === 'auto' ? 'wasm' : choice;
  const { start } = kind === 'wasm' ? await import('./wasm.ts') : await import('./cpu.ts');
  const backend = await start();
  explainMissingOps(kind);
  return backend;
}
