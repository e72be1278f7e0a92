import type { KernelFunc, NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../tf.ts';
import { identity } from './identity.ts';
import { crossEntropy, crossEntropyGradient, gaussianNll, gaussianNllGradient } from './losses.ts';
import { batchMatMul, fusedMatMul } from './mat-mul.ts';
import { reluGradient } from './relu.ts';
import type { WasmRuntime } from './runtime.ts';

/** A kernel as Tutti writes them: of one output. */
export type Kernel = (runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap) => TensorInfo;

const kernels: Record<string, Kernel> = {
  BatchMatMul: batchMatMul,
  CrossEntropy: crossEntropy,
  CrossEntropyGradient: crossEntropyGradient,
  GaussianNll: gaussianNll,
  GaussianNllGradient: gaussianNllGradient,
  Identity: identity,
  ReluGradient: reluGradient,
  _FusedMatMul: fusedMatMul,
};

/** Replaces tfjs's kernels of the wasm backend by Tutti's, and adds those that it lacks. */
export function registerKernels(runtime: WasmRuntime): void {
  for (const [name, kernel] of Object.entries(kernels)) {
    const kernelFunc: KernelFunc = ({ inputs, attrs }) => kernel(runtime, inputs, attrs ?? {});
    if (tf.getKernel(name, 'wasm') !== undefined) tf.unregisterKernel(name, 'wasm');
    tf.registerKernel({ kernelName: name, backendName: 'wasm', kernelFunc });
  }
}
