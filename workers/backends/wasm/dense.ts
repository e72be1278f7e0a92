import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../tf.ts';
import { required } from './inputs.ts';
import type { Kernel } from './kernel.ts';
import type { KernelModule } from './kernel-module.ts';
import { fusedMatMul } from './mat-mul.ts';
import type { WasmRuntime } from './runtime.ts';

/** A dense layer's forward pass as one op, and the gradients of the activations in it. */
export const denseKernels: Record<string, Kernel> = {
  Dense: dense,
  ReluGradient: (runtime, inputs) => fromGradient(runtime, runtime.kernels.gradientOfRelu, inputs),
  SigmoidGradient: (runtime, inputs) => fromGradient(runtime, runtime.kernels.gradientOfSigmoid, inputs),
  TanhGradient: (runtime, inputs) => fromGradient(runtime, runtime.kernels.gradientOfTanh, inputs),
};

/** act(x W + b): x `[B, I]`, W `[I, O]`, b `[O]` if there is one, gives `[B, O]`. */
function dense(
  runtime: WasmRuntime,
  { x: a, kernel: b, ...rest }: NamedTensorInfoMap,
  attributes: NamedAttrMap,
): TensorInfo {
  return fusedMatMul(runtime, { a, b, ...rest }, attributes);
}

type Gradient = KernelModule['gradientOfRelu' | 'gradientOfSigmoid' | 'gradientOfTanh'];

/** dx of dy and of what the gradient is told by: the input of ReLU, the output of the others (or, as its sign is the same, of ReLU, too). */
function fromGradient({ memory }: WasmRuntime, gradient: Gradient, inputs: NamedTensorInfoMap): TensorInfo {
  const [x, dy] = [required(inputs, 'x'), required(inputs, 'dy')];
  const dx = memory.output(x.shape);
  gradient(memory.address(x), memory.address(dy), tf.util.sizeFromShape(x.shape), memory.address(dx));
  return dx;
}
