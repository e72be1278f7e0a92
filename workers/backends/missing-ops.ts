import * as core from '@tensorflow/tfjs-core';
import type { BackendKind } from './backend.ts';

/**
 * Has each op that a backend lacks say so, and name the one to try; TensorFlow.js speaks of a kernel that is not registered. To be called when
 * all of the backend's kernels are registered.
 */
export function explainMissingOps(backend: BackendKind): void {
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

/** The core exports each kernel's name under that name. */
function kernelNames(): string[] {
  return Object.entries(core).flatMap(([name, value]) => (name === value || `_${name}` === value ? [value] : []));
}
