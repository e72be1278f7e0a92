import type { NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../../tensorflow/tf.ts';
import { tensorOf } from '../../contract.ts';
import type { TensorMemory } from '../memory/tensor-memory.ts';
import { type Kernel, type WasmRuntime, required } from '../kernel.ts';

/**
 * Elementwise kernels. tfjs's own Relu6, ClipByValue, Maximum and Minimum drop NaN: they return the bound or the other
 * operand; these return NaN.
 */
export const elementwiseKernels: Record<string, Kernel> = {
  Identity: ({ memory }, inputs) => identity(memory, required(inputs, 'x')),
  Prelu: prelu,
  Gelu: (runtime, inputs) => withSlope('gelu', runtime, required(inputs, 'x')),
  Swish: (runtime, inputs) => withSlope('swish', runtime, required(inputs, 'x')),
  Tanh: (runtime, inputs) => tanh(runtime, required(inputs, 'x')),
  ReluGradient: (runtime, inputs) => gradientOf('gradientOfRelu', runtime, inputs),
  SigmoidGradient: (runtime, inputs) => gradientOf('gradientOfSigmoid', runtime, inputs),
  TanhGradient: (runtime, inputs) => gradientOf('gradientOfTanh', runtime, inputs),
  Relu6: (runtime, inputs) => clip(runtime, required(inputs, 'x'), 0, 6),
  ClipByValue: (runtime, inputs, { clipValueMin, clipValueMax }) =>
    clip(runtime, required(inputs, 'x'), Number(clipValueMin), Number(clipValueMax)),
  Maximum: (runtime, inputs) => extreme(runtime, inputs, false),
  Minimum: (runtime, inputs) => extreme(runtime, inputs, true),
};

/**
 * A tensor with the same data. tfjs clones every tensor that a gradient needs, and its own kernel copies the data. Code
 * that changes data in place must leave shared data alone: see `TensorMemory.isShared`.
 */
function identity(memory: TensorMemory, x: TensorInfo): TensorInfo {
  return memory.share(x);
}

/** tfjs's own kernel computes one value at a time, which took half of the steps of small networks with tanh. */
function tanh({ kernels, memory }: WasmRuntime, x: TensorInfo): TensorInfo | null {
  if (x.dtype !== 'float32') return null;
  const output = memory.output(x.shape);
  kernels.tanh(memory.address(x), tf.util.sizeFromShape(x.shape), memory.address(output));
  return output;
}

/** An activation's values, and its slopes, with which the gradient is one product. */
function withSlope(kernel: 'gelu' | 'swish', { kernels, memory }: WasmRuntime, x: TensorInfo): TensorInfo[] {
  const [y, slope] = [memory.output(x.shape), memory.output(x.shape)];
  kernels[kernel](memory.address(x), tf.util.sizeFromShape(x.shape), memory.address(y), memory.address(slope));
  return [y, slope];
}

/**
 * dx of an activation from dy and x: the output of sigmoid or tanh; for ReLU its input or output, which have the same
 * sign.
 */
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

function clip({ kernels, memory }: WasmRuntime, x: TensorInfo, lowest: number, highest: number): TensorInfo | null {
  if (x.dtype !== 'float32') return null;
  const output = memory.output(x.shape);
  kernels.clip(memory.address(x), tf.util.sizeFromShape(x.shape), lowest, highest, memory.address(output));
  return output;
}

function extreme({ kernels, memory }: WasmRuntime, inputs: NamedTensorInfoMap, isMinimum: boolean): TensorInfo | null {
  const operands = [required(inputs, 'a'), required(inputs, 'b')];
  if (operands.some(({ dtype }) => dtype !== 'float32')) return null;
  const shape = tf.broadcast_util.assertAndGetBroadcastShape(operands[0].shape, operands[1].shape);
  const size = tf.util.sizeFromShape(shape);
  const output = memory.output(shape);
  tf.tidy(() => {
    const [[a, stepA], [b, stepB]] = operands.map((operand) => {
      const given = tf.util.sizeFromShape(operand.shape);
      const whole = given === size || given === 1 ? operand : tf.broadcastTo(tensorOf(operand), shape);
      return [memory.address(whole), given === 1 ? 0 : 1];
    });
    kernels.extreme(a, stepA, b, stepB, size, Number(isMinimum), memory.address(output));
  });
  return output;
}

/** relu(x) − alpha · relu(−x). tfjs's own kernel caches alpha at its first call, although training changes it. */
function prelu({ memory }: WasmRuntime, inputs: NamedTensorInfoMap): TensorInfo {
  const [x, alpha] = [required(inputs, 'x'), required(inputs, 'alpha')];
  const call = (name: string, operands: NamedTensorInfoMap): TensorInfo => {
    const kernel = tf.getKernel(name, 'wasm');
    if (kernel === undefined) throw new Error(`The wasm backend has no kernel ${name}: is its version the pinned one?`);
    return kernel.kernelFunc({ inputs: operands, backend: memory.backend }) as TensorInfo;
  };
  const negated = call('Neg', { x });
  const below = call('Relu', { x: negated });
  const scaled = call('Multiply', { a: below, b: alpha });
  const above = call('Relu', { x });
  const output = call('Sub', { a: above, b: scaled });
  for (const part of [negated, below, scaled, above]) memory.dispose(part);
  return output;
}
