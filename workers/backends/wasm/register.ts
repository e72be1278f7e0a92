import type { KernelFunc, NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../tf.ts';
import { identity } from './identity.ts';
import { crossEntropy, crossEntropyGradient, gaussianNll, gaussianNllGradient } from './losses.ts';
import { batchMatMul, fusedMatMul } from './mat-mul.ts';
import { max, mean, sum } from './reductions.ts';
import { reluGradient } from './relu.ts';
import type { WasmRuntime } from './runtime.ts';
import { transpose } from './transpose.ts';

/** A kernel as Tutti writes them: of one output; null leaves the call to tfjs's own kernel. */
export type Kernel = (runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap) => TensorInfo | null;

const kernels: Record<string, Kernel> = {
  BatchMatMul: batchMatMul,
  CrossEntropy: crossEntropy,
  CrossEntropyGradient: crossEntropyGradient,
  GaussianNll: gaussianNll,
  GaussianNllGradient: gaussianNllGradient,
  Identity: identity,
  Max: max,
  Mean: mean,
  ReluGradient: reluGradient,
  Sum: sum,
  Transpose: transpose,
  _FusedMatMul: fusedMatMul,
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
