import * as core from '@tensorflow/tfjs-core';
import type { KernelFunc, Tensor, TensorInfo } from '@tensorflow/tfjs-core';

/** Replaces a backend's kernel with the one that `correct` returns for it. @throws Error if the backend has no such kernel */
export function replaceKernel(backendName: string, kernelName: string, correct: (own: KernelFunc) => KernelFunc): void {
  const own = core.getKernel(kernelName, backendName);
  if (own === undefined) {
    throw new Error(`tfjs-backend-${backendName} has no kernel ${kernelName}: is its version the pinned one?`);
  }
  core.unregisterKernel(kernelName, backendName);
  core.registerKernel({ ...own, kernelFunc: correct(own.kernelFunc) });
}

/** A kernel's input as a tensor: the engine passes tensors, although the type only promises their description. */
export function tensorOf(info: TensorInfo | undefined): Tensor {
  if (info instanceof core.Tensor) return info;
  throw new Error('A kernel was called without one of its inputs.');
}
