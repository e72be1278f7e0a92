import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../../tensorflow/tf.ts';
import { required } from '../memory/inputs.ts';
import type { Kernel } from '../kernel.ts';
import { fusedMatMul } from './mat-mul.ts';
import type { WasmRuntime } from '../runtime.ts';

/** A dense layer's forward pass as one op, and the gradients of the activations in it. */
export const denseKernels: Record<string, Kernel> = {
  Dense: dense,
  ReluGradient: (runtime, inputs) => gradientOf('gradientOfRelu', runtime, inputs),
  SigmoidGradient: (runtime, inputs) => gradientOf('gradientOfSigmoid', runtime, inputs),
  TanhGradient: (runtime, inputs) => gradientOf('gradientOfTanh', runtime, inputs),
};

/** act(x W + b): x `[B, I]`, W `[I, O]`, b `[O]` if there is one, gives `[B, O]`. */
function dense(
  runtime: WasmRuntime,
  { x: a, kernel: b, ...rest }: NamedTensorInfoMap,
  attributes: NamedAttrMap,
): TensorInfo {
  return fusedMatMul(runtime, { a, b, ...rest }, attributes);
}

/** dx of dy and of what the gradient is told by: the input of ReLU, the output of the others (or, as its sign is the same, of ReLU, too). */
function gradientOf(
  kernel: 'gradientOfRelu' | 'gradientOfSigmoid' | 'gradientOfTanh',
  { memory, kernels }: WasmRuntime,
  inputs: NamedTensorInfoMap,
): TensorInfo {
  const [x, dy] = [required(inputs, 'x'), required(inputs, 'dy')];
  const dx = memory.output(x.shape);
  kernels[kernel](memory.address(x), memory.address(dy), tf.util.sizeFromShape(x.shape), memory.address(dx));
  return dx;
}
