import * as core from '@tensorflow/tfjs-core';
import type { GradConfig, NamedAttrMap, NamedTensorMap, Tensor } from '@tensorflow/tfjs-core';

/**
 * tfjs has no gradient for dilated windows. A dilated filter is a larger filter with zeros between its values, and has
 * the same gradients.
 */
export const conv3dGradient: GradConfig = {
  kernelName: 'Conv3D',
  inputsToSave: ['x', 'filter'],
  gradFunc: (dy, [x, filter], attributes) => {
    const { strides, pad } = attributes;
    const rates = [attributes.dilations ?? 1].flat() as number[];
    const dilations = rates.length === 1 ? [rates[0], rates[0], rates[0]] : rates;
    return {
      x: () =>
        run(
          'Conv3DBackpropInputV2',
          { dy: dy as Tensor, filter: dilations.reduce((dilated, rate, axis) => dilate(dilated, axis, rate), filter) },
          { strides, pad, inputShape: x.shape },
        ),
      filter: () => {
        const filterShape = filter.shape.map((size, axis) => (size - 1) * (dilations[axis] ?? 1) + 1);
        const whole = run('Conv3DBackpropFilterV2', { x, dy: dy as Tensor }, { strides, pad, filterShape });
        return dilations.reduce((gradient, rate, axis) => everyNth(gradient, axis, rate), whole);
      },
    };
  },
};

/** The gradient of the transposed convolution, which tfjs lacks. */
export const conv3dTransposeGradient: GradConfig = {
  kernelName: 'Conv3DBackpropInputV2',
  inputsToSave: ['dy', 'filter'],
  gradFunc: (dx, [dy, filter], { strides, pad }) => ({
    dy: () => run('Conv3D', { x: dx as Tensor, filter }, { strides, pad, dataFormat: 'NDHWC', dilations: [1, 1, 1] }),
    filter: () => run('Conv3DBackpropFilterV2', { x: dx as Tensor, dy }, { strides, pad, filterShape: filter.shape }),
  }),
};

function run(kernel: string, inputs: NamedTensorMap, attributes: NamedAttrMap): Tensor {
  return core.engine().runKernel(kernel, inputs, attributes);
}

/** Puts rate - 1 zeros between the values along an axis. */
function dilate(x: Tensor, axis: number, rate: number): Tensor {
  if (rate === 1) return x;
  const [before, size, after] = [x.shape.slice(0, axis), x.shape[axis], x.shape.slice(axis + 1)];
  const [rows, columns] = [product(before), product(after)];
  const spread = core.pad(core.reshape(x, [rows, size, 1, columns]), [
    [0, 0],
    [0, 0],
    [0, rate - 1],
    [0, 0],
  ]);
  const length = (size - 1) * rate + 1;
  const whole = core.slice(core.reshape(spread, [rows, size * rate, columns]), [0, 0, 0], [rows, length, columns]);
  return core.reshape(whole, [...before, length, ...after]);
}

/** Every rate-th value along an axis, from the first on. */
function everyNth(x: Tensor, axis: number, rate: number): Tensor {
  if (rate === 1) return x;
  const count = Math.ceil(x.shape[axis] / rate);
  const positions = Array.from({ length: count }, (_, i) => i * rate);
  return core.gather(x, core.tensor1d(positions, 'int32'), axis);
}

function product(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total * size, 1);
}
