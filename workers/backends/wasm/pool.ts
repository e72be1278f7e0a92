import type { backend_util, NamedAttrMap } from '@tensorflow/tfjs-core';
import { tf } from '../../tf.ts';
import { required, requireFloats } from './inputs.ts';
import type { Kernel } from './kernel.ts';
import { positionsOf, type Shape4, withWindow } from './window.ts';

/** Gradients of pools over images `[B, H, W, C]`. tfjs's own of the max pool is wrong where windows do not lie on a grid of strides. */
export const poolKernels: Record<string, Kernel> = {
  MaxPoolGrad: ({ memory, kernels }, inputs, attributes) => {
    const [dy, x, y] = [required(inputs, 'dy'), required(inputs, 'input'), required(inputs, 'output')];
    requireFloats('maxPool', dy, x, y);
    const info = describe(x.shape, attributes);
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
    const info = describe(x.shape, attributes);
    const output = memory.output(x.shape);
    const [gradients, target] = [dy, output].map((tensor) => memory.address(tensor));
    memory.floats(target, tf.util.sizeFromShape(x.shape)).fill(0);
    withWindow(memory, info, 0, (window) => kernels.avgPoolGradient(gradients, target, window, positionsOf(info)));
    return output;
  },
};

function describe(
  images: number[],
  { filterSize, strides, pad, dimRoundingMode }: NamedAttrMap,
): backend_util.Conv2DInfo {
  return tf.backend_util.computePool2DInfo(
    images as Shape4,
    filterSize as [number, number],
    strides as [number, number],
    1,
    pad as 'same',
    dimRoundingMode as 'floor',
  );
}
