import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../../tensorflow/tf.ts';
import { describePool } from '../../pool-windows.ts';
import { required, requireFloats } from '../memory/inputs.ts';
import type { Kernel } from '../kernel.ts';
import type { WasmRuntime } from '../runtime.ts';
import { positionsOf, withWindow } from './window.ts';

/**
 * Pools over images `[B, H, W, C]`. tfjs's own turn NaN into numbers, have the gradient of the max pool wrong where windows do not lie on a grid of
 * strides, and divide that of the average pool by the whole window, also over padding.
 */
export const poolKernels: Record<string, Kernel> = {
  MaxPool: (runtime, inputs, attributes) => pool(runtime, 'maxPool', inputs, attributes),
  AvgPool: (runtime, inputs, attributes) => pool(runtime, 'avgPool', inputs, attributes),
  MaxPoolGrad: ({ memory, kernels }, inputs, attributes) => {
    const [dy, x, y] = [required(inputs, 'dy'), required(inputs, 'input'), required(inputs, 'output')];
    requireFloats('maxPool', dy, x, y);
    const { info } = describePool('maxPool', x.shape, attributes);
    const output = memory.output(x.shape);
    const [values, largest, gradients, target] = [x, y, dy, output].map((tensor) => memory.address(tensor));
    memory.floats(target, tf.util.sizeFromShape(x.shape)).fill(0);
    withWindow(memory, info, 4 * info.inChannels, (window, unclaimed) =>
      kernels.maxPoolGradient(values, largest, gradients, target, window, positionsOf(info), unclaimed),
    );
    return output;
  },
  AvgPoolGrad: ({ memory, kernels }, inputs, attributes) => {
    const [dy, x] = [required(inputs, 'dy'), required(inputs, 'input')];
    requireFloats('avgPool', dy, x);
    const { info } = describePool('avgPool', x.shape, attributes);
    const output = memory.output(x.shape);
    const [gradients, target] = [dy, output].map((tensor) => memory.address(tensor));
    memory.floats(target, tf.util.sizeFromShape(x.shape)).fill(0);
    withWindow(memory, info, 0, (window) => kernels.avgPoolGradient(gradients, target, window, positionsOf(info)));
    return output;
  },
};

function pool(
  { memory, kernels }: WasmRuntime,
  kernel: 'maxPool' | 'avgPool',
  inputs: NamedTensorInfoMap,
  attributes: NamedAttrMap,
): TensorInfo {
  const x = required(inputs, 'x');
  requireFloats(kernel, x);
  const { info } = describePool(kernel, x.shape, attributes);
  const output = memory.output(info.outShape);
  const [from, to] = [x, output].map((tensor) => memory.address(tensor));
  withWindow(memory, info, 0, (window) => kernels[kernel](from, to, window, positionsOf(info)));
  return output;
}
