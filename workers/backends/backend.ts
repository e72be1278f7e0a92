import * as core from '@tensorflow/tfjs-core';
import type { Backend, BackendKind, BackendOptions } from './contract.ts';

export type { Backend, BackendKind } from './contract.ts';

const backends: Record<BackendKind, () => Promise<{ start: (options: BackendOptions) => Promise<Backend> }>> = {
  wasm: () => import('./wasm.ts'),
  tensorflow: () => import('./tensorflow.ts'),
  webgpu: () => import('./webgpu.ts'),
  cpu: () => import('./cpu.ts'),
};

/** Loads a backend and makes it TensorFlow.js's current one. `auto` is wasm, the fastest that needs no setup. */
export async function startBackend(choice: BackendKind | 'auto', options: BackendOptions = {}): Promise<Backend> {
  const kind = choice === 'auto' ? 'wasm' : choice;
  const { start } = await backends[kind]();
  const backend = await start(options);
  explainMissingOps(kind);
  return backend;
}

/**
 * Registers, for each op that a backend lacks, a kernel that throws an error naming the op and a backend that has it;
 * TensorFlow.js itself reports a kernel that is not registered. Call it after all of the backend's kernels are
 * registered.
 */
function explainMissingOps(backend: BackendKind): void {
  if (backend === 'cpu') return;
  for (const op of kernelNames()) {
    if (core.getKernel(op, backend) !== undefined) continue;
    core.registerKernel({
      kernelName: op,
      backendName: backend,
      kernelFunc: () => {
        throw new Error(`The ${backend} backend has no op ${op}. Use --backend cpu, which has the most.`);
      },
    });
  }
}

/** tfjs-core exports each kernel's name as a constant of that name. */
function kernelNames(): string[] {
  return Object.entries(core).flatMap(([name, value]) => (name === value || `_${name}` === value ? [value] : []));
}
