import type { Blas } from '../../core/protocol/machine/devices.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import * as core from '@tensorflow/tfjs-core';
import type { KernelFunc, Tensor, TensorInfo } from '@tensorflow/tfjs-core';

/** A started backend: the place where tensors live, and what a run records about it. */
export interface Backend {
  readonly kind: BackendKind;
  /** The name for people, e.g. `wasm + OpenBLAS (SkylakeX)`. */
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
  /** Threads that share large kernels. Results have the same bits with any number. */
  threads?: number;
}

/**
 * Replaces a backend's kernel with the one that `correct` returns for it.
 * @throws Error if the backend has no such kernel
 */
export function replaceKernel(backendName: string, kernelName: string, correct: (own: KernelFunc) => KernelFunc): void {
  const own = core.getKernel(kernelName, backendName);
  if (own === undefined) {
    throw new Error(`tfjs-backend-${backendName} has no kernel ${kernelName}: is its version the pinned one?`);
  }
  core.unregisterKernel(kernelName, backendName);
  core.registerKernel({ ...own, kernelFunc: correct(own.kernelFunc) });
}

/** A kernel's output as a tensor, which kernels of TensorFlow return already. */
export function outputOf(result: ReturnType<KernelFunc>): Tensor {
  const [output] = [result].flat();
  return output instanceof core.Tensor ? output : core.engine().makeTensorFromTensorInfo(output);
}

/** A kernel's input as a tensor: the engine passes tensors, although the type only promises their description. */
export function tensorOf(info: TensorInfo | undefined): Tensor {
  if (info instanceof core.Tensor) return info;
  throw new Error('A kernel was called without one of its inputs.');
}
