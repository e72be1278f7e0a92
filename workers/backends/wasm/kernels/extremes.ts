import type { NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../../tensorflow/tf.ts';
import { tensorOf } from '../../replace-kernel.ts';
import { required } from '../memory/inputs.ts';
import type { Kernel } from '../kernel.ts';
import type { WasmRuntime } from '../runtime.ts';

/** Bounds and extremes of float32 values, NaN where an operand is: tfjs's own kernels give the bound or the other operand there. */
export const extremeKernels: Record<string, Kernel> = {
  Relu6: (runtime, inputs) => clip(runtime, required(inputs, 'x'), 0, 6),
  ClipByValue: (runtime, inputs, { clipValueMin, clipValueMax }) =>
    clip(runtime, required(inputs, 'x'), Number(clipValueMin), Number(clipValueMax)),
  Maximum: (runtime, inputs) => extreme(runtime, inputs, false),
  Minimum: (runtime, inputs) => extreme(runtime, inputs, true),
};

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
