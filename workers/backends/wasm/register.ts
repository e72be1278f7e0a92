import type { KernelFunc } from '@tensorflow/tfjs-core';
import { tf } from '../../tf.ts';
import { borrowedKernels } from './borrowed.ts';
import { convolutionKernels } from './convolution.ts';
import { depthwiseKernels } from './depthwise.ts';
import { gatherKernels } from './gather.ts';
import { identity } from './identity.ts';
import type { Kernel } from './kernel.ts';
import { crossEntropy, crossEntropyGradient, gaussianNll, gaussianNllGradient } from './losses.ts';
import { batchMatMul, fusedMatMul } from './mat-mul.ts';
import { poolKernels } from './pool.ts';
import { prelu } from './prelu.ts';
import { reluGradient } from './relu.ts';
import type { WasmRuntime } from './runtime.ts';

const kernels: Record<string, Kernel> = {
  BatchMatMul: batchMatMul,
  CrossEntropy: crossEntropy,
  CrossEntropyGradient: crossEntropyGradient,
  GaussianNll: gaussianNll,
  GaussianNllGradient: gaussianNllGradient,
  Identity: identity,
  Prelu: prelu,
  ReluGradient: reluGradient,
  _FusedMatMul: fusedMatMul,
  ...convolutionKernels,
  ...depthwiseKernels,
  ...poolKernels,
  ...gatherKernels,
  ...borrowedKernels,
};

/** Replaces tfjs's kernels of the wasm backend by Tutti's, and adds those that it lacks. */
export function registerKernels(runtime: WasmRuntime): void {
  for (const [name, kernel] of Object.entries(kernels)) {
    const kernelFunc: KernelFunc = ({ inputs, attrs }) => kernel(runtime, inputs, attrs ?? {});
    if (tf.getKernel(name, 'wasm') !== undefined) tf.unregisterKernel(name, 'wasm');
    tf.registerKernel({ kernelName: name, backendName: 'wasm', kernelFunc });
  }
}
