import type { NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../tf.ts';
import { required } from './inputs.ts';
import type { WasmRuntime } from './runtime.ts';

/** dy where x > 0, else 0. */
export function reluGradient({ kernels, memory }: WasmRuntime, inputs: NamedTensorInfoMap): TensorInfo {
  const [x, dy] = [required(inputs, 'x'), required(inputs, 'dy')];
  const dx = memory.output(x.shape);
  kernels.gradientOfRelu(memory.address(x), memory.address(dy), tf.util.sizeFromShape(x.shape), memory.address(dx));
  return dx;
}
