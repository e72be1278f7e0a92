import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../../tensorflow/tf.ts';
import { describePool } from '../../pool-windows.ts';
import { type Kernel, required, requireFloats, type WasmRuntime } from '../kernel.ts';
import { positionsOf, withWindow } from './window.ts';

/**
 * Pools over images `[B, H, W, C]`. tfjs's own pools turn NaN into numbers; their gradient of the max pool is wrong
 * where windows do not lie on a grid of strides; their gradient of the average pool is divided by the size of the whole
 * window even over padding.
 */
export const poolKernels: Record<string, Kernel> = {
  MaxPool: (runtime, inputs, attributes) => pool(runtime, 'maxPool', inputs, attributes),
  AvgPool: (runtime, inputs, attributes) => pool(runtime, 'avgPool', inputs, attributes),
  MaxPoolGrad: (runtime, inputs, attributes) => {
    const [dy, x, y] = [required(inputs, 'dy'), required(inputs, 'input'), required(inputs, 'output')];
    requireFloats('maxPool', dy, x, y);
    const { output, target, info } = prepareGradient(runtime, 'maxPool', x, attributes);
    const { memory, kernels } = runtime;
    const [values, largest, gradients] = [x, y, dy].map((tensor) => memory.address(tensor));
    withWindow(memory, info, 4 * info.inChannels, (window, unclaimed) =>
      kernels.maxPoolGradient(values, largest, gradients, target, window, positionsOf(info), unclaimed),
    );
    return output;
  },
  AvgPoolGrad: (runtime, inputs, attributes) => {
    const [dy, x] = [required(inputs, 'dy'), required(inputs, 'input')];
    requireFloats('avgPool', dy, x);
    const { output, target, info } = prepareGradient(runtime, 'avgPool', x, attributes);
    const { memory, kernels } = runtime;
    const gradients = memory.address(dy);
    withWindow(memory, info, 0, (window) => kernels.avgPoolGradient(gradients, target, window, positionsOf(info)));
    return output;
  },
};

/** The windows of a pool over x, and a tensor of zeros for dx: the windows' gradients are added to it. */
function prepareGradient({ memory }: WasmRuntime, pool: string, x: TensorInfo, attributes: NamedAttrMap) {
  const { info } = describePool(pool, x.shape, attributes);
  const output = memory.output(x.shape);
  const target = memory.address(output);
  memory.floats(target, tf.util.sizeFromShape(x.shape)).fill(0);
  return { output, target, info };
}

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
