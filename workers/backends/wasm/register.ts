import type { KernelFunc } from '@tensorflow/tfjs-core';
import { tf } from '../../tensorflow/tf.ts';
import type { Kernel, WasmRuntime } from './kernel.ts';
import { elementwiseKernels } from './kernels/elementwise.ts';
import { batchNormalizationKernels } from './kernels/batch-normalization.ts';
import { borrowedKernels } from './memory/borrowed.ts';
import { convolutionKernels } from './kernels/convolution.ts';
import { denseKernels } from './products/dense.ts';
import { depthwiseKernels } from './kernels/depthwise.ts';
import { gatherKernels } from './kernels/gather.ts';
import { crossEntropy, crossEntropyGradient, gaussianNll, gaussianNllGradient } from './kernels/losses.ts';
import { batchMatMul, fusedMatMul } from './products/mat-mul.ts';
import { poolKernels } from './kernels/pool.ts';
import { recurrentKernels } from './recurrent/kernels.ts';
import { max, mean, sum } from './kernels/reductions.ts';
import { slice } from './kernels/slice.ts';
import { transpose } from './kernels/transpose.ts';

const kernels: Record<string, Kernel> = {
  BatchMatMul: batchMatMul,
  CrossEntropy: crossEntropy,
  CrossEntropyGradient: crossEntropyGradient,
  GaussianNll: gaussianNll,
  GaussianNllGradient: gaussianNllGradient,
  Max: max,
  Mean: mean,
  Slice: slice,
  Sum: sum,
  Transpose: transpose,
  _FusedMatMul: fusedMatMul,
  ...batchNormalizationKernels,
  ...convolutionKernels,
  ...denseKernels,
  ...depthwiseKernels,
  ...elementwiseKernels,
  ...poolKernels,
  ...gatherKernels,
  ...recurrentKernels,
  ...borrowedKernels,
};

/** Replaces kernels of tfjs's wasm backend with Tutti's, and adds missing ones. */
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
