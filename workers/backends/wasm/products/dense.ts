import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../../tensorflow/tf.ts';
import { type Kernel, required, type WasmRuntime } from '../kernel.ts';
import { fusedMatMul } from './mat-mul.ts';

/** A dense layer's forward pass as one op, and the gradients of its activations. */
export const denseKernels: Record<string, Kernel> = {
  Dense: dense,
  ReluGradient: (runtime, inputs) => gradientOf('gradientOfRelu', runtime, inputs),
  SigmoidGradient: (runtime, inputs) => gradientOf('gradientOfSigmoid', runtime, inputs),
  TanhGradient: (runtime, inputs) => gradientOf('gradientOfTanh', runtime, inputs),
};

/** act(x W + b) `[B, O]` for x `[B, I]`, W `[I, O]` and an optional b `[O]`. */
function dense(
  runtime: WasmRuntime,
  { x: a, kernel: b, ...rest }: NamedTensorInfoMap,
  attributes: NamedAttrMap,
): TensorInfo {
  return fusedMatMul(runtime, { a, b, ...rest }, attributes);
}

/** dx of an activation from dy and x: the output of sigmoid or tanh; for ReLU its input or output, which have the same sign. */
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
