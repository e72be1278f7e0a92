import * as core from '@tensorflow/tfjs-core';
import type { KernelFunc, Tensor, TensorInfo } from '@tensorflow/tfjs-core';

/** Registers what `correct` makes of a backend's own kernel in its place. @throws where the backend has no such kernel */
export function replaceKernel(backendName: string, kernelName: string, correct: (own: KernelFunc) => KernelFunc): void {
  const own = core.getKernel(kernelName, backendName);
  if (own === undefined) {
    throw new Error(`tfjs-backend-${backendName} has no kernel ${kernelName}: is its version the pinned one?`);
  }
  core.unregisterKernel(kernelName, backendName);
  core.registerKernel({ ...own, kernelFunc: correct(own.kernelFunc) });
}

/** An input as the tensor that it is: the engine calls kernels with whole tensors. */
export function tensorOf(info: TensorInfo | undefined): Tensor {
  if (info instanceof core.Tensor) return info;
  throw new Error('A kernel was called without one of its inputs.');
}
