/** Where tensors live, and what a run records about it. */
export interface Backend {
  readonly kind: BackendKind;
  /** For people, e.g. `wasm (SIMD, one core)`. */
  readonly description: string;
  /** Bytes that tensors and the backend's buffers take at present. */
  memoryBytes(): number;
}

export type BackendKind = 'wasm' | 'tensorflow' | 'cpu';

const backends: Record<BackendKind, () => Promise<{ start: () => Promise<Backend> }>> = {
  wasm: () => import('./wasm.ts'),
  tensorflow: () => import('./tensorflow.ts'),
  cpu: () => import('./cpu.ts'),
};

/** Loads a backend and makes it TensorFlow.js's current one. `auto` takes the fastest that this build has. */
export async function startBackend(choice: BackendKind | 'auto'): Promise<Backend> {
  const { start } = await backends[choice === 'auto' ? 'wasm' : choice]();
  return start();
}
