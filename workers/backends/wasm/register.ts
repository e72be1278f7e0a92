import type { KernelFunc } from '@tensorflow/tfjs-core';
import { tf } from '../../tensorflow/tf.ts';
import { batchNormalizationKernels } from './kernels/batch-normalization.ts';
import { borrowedKernels } from './memory/borrowed.ts';
import { convolutionKernels } from './kernels/convolution.ts';
import { denseKernels } from './products/dense.ts';
import { depthwiseKernels } from './kernels/depthwise.ts';
import { extremeKernels } from './kernels/extremes.ts';
import { gatherKernels } from './kernels/gather.ts';
import { identity } from './kernels/identity.ts';
import type { Kernel } from './kernel.ts';
import { crossEntropy, crossEntropyGradient, gaussianNll, gaussianNllGradient } from './kernels/losses.ts';
import { batchMatMul, fusedMatMul } from './products/mat-mul.ts';
import { poolKernels } from './kernels/pool.ts';
import { prelu } from './kernels/prelu.ts';
import { max, mean, sum } from './kernels/reductions.ts';
import type { WasmRuntime } from './runtime.ts';
import { transpose } from './kernels/transpose.ts';

const kernels: Record<string, Kernel> = {
  BatchMatMul: batchMatMul,
  CrossEntropy: crossEntropy,
  CrossEntropyGradient: crossEntropyGradient,
  GaussianNll: gaussianNll,
  GaussianNllGradient: gaussianNllGradient,
  Identity: identity,
  Max: max,
  Mean: mean,
  Prelu: prelu,
  Sum: sum,
  Transpose: transpose,
  _FusedMatMul: fusedMatMul,
  ...batchNormalizationKernels,
  ...convolutionKernels,
  ...denseKernels,
  ...depthwiseKernels,
  ...extremeKernels,
  ...poolKernels,
  ...gatherKernels,
  ...borrowedKernels,
};

/** Replaces tfjs's kernels of the wasm backend by Tutti's, and adds those that it lacks. */
export function registerKernels(runtime: WasmRuntime): void {
  for (const [name, kernel] of Object.entries(kernels)) {
    const stock = tf.getKernel(name, 'wasm');
    if (stock !== undefined) tf.unregisterKernel(name, 'wasm');
    const kernelFunc: KernelFunc = (call) => {
      const output = kernel(runtime, call.inputs, call.attrs ?? {});
      if (output !== null) return output;
      if (stock === undefined) throw new Error(`The wasm backend has no ${name} for these inputs; --backend cpu has.`);
      return stock.kernelFunc(call);
    };
    tf.registerKernel({ kernelName: name, backendName: 'wasm', kernelFunc });
  }
}
