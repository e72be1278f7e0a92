import * as core from '@tensorflow/tfjs-core';
import type { KernelFunc, NamedAttrMap, NamedTensorInfoMap, Tensor } from '@tensorflow/tfjs-core';
import { dilate, pairOf } from '../tensorflow/gradients.ts';
import { outputOf, replaceKernel, tensorOf } from './contract.ts';

type Attributes = NamedAttrMap;

/**
 * Completes depthwise convolutions of TensorFlow, which takes other kernels on processors without AVX-512. These refuse
 * dilated windows, and strides that differ between rows and columns.
 */
export function completeDepthwise(backendName: string): void {
  for (const [name, convolve] of Object.entries(convolutions)) {
    replaceKernel(backendName, name, (own) => (call) => {
      const attributes = call.attrs ?? {};
      const [rows, columns] = pairOf(attributes.strides);
      if (rows !== columns) return core.tidy(() => convolve(call.inputs, attributes));
      const [height, width] = pairOf(attributes.dilations ?? 1);
      const isDilated = height > 1 || width > 1;
      return isDilated && 'filter' in call.inputs ? core.tidy(() => spread(own, call, height, width)) : own(call);
    });
  }
}

/** A dilated filter is a larger one with zeros between its values. */
function spread(own: KernelFunc, call: Parameters<KernelFunc>[0], height: number, width: number): Tensor {
  const filter = dilate(tensorOf(call.inputs.filter), height, width);
  return outputOf(own({ ...call, inputs: { ...call.inputs, filter }, attrs: { ...call.attrs, dilations: [1, 1] } }));
}

/** The kernels as those of a full convolution, with a filter that is 0 between different channels: slow, but rare. */
const convolutions: Record<string, (inputs: NamedTensorInfoMap, attributes: Attributes) => Tensor> = {
  DepthwiseConv2dNative: (inputs, attributes) => run('Conv2D', withFullFilter(inputs), attributes),
  FusedDepthwiseConv2D: (inputs, attributes) => run('FusedConv2D', withFullFilter(inputs), attributes),
  DepthwiseConv2dNativeBackpropInput: (inputs, attributes) =>
    run('Conv2DBackpropInput', withFullFilter(inputs), attributes),
  DepthwiseConv2dNativeBackpropFilter: (inputs, attributes) => {
    const [height, width, channels, multiplier] = attributes.filterShape as number[];
    const filterShape = [height, width, channels, channels * multiplier];
    const full = run('Conv2DBackpropFilter', inputs, { ...attributes, filterShape });
    const byChannel = core.reshape(full, [height * width, channels, channels, multiplier]);
    const own = core.sum(core.mul(byChannel, ofSameChannel(channels)), 2);
    return core.reshape(own, [height, width, channels, multiplier]);
  },
};

function run(kernel: string, inputs: NamedTensorInfoMap, attributes: Attributes): Tensor {
  const defaults = { dataFormat: 'NHWC', dilations: [1, 1] };
  return core.engine().runKernel(kernel, inputs as core.NamedTensorMap, { ...defaults, ...attributes });
}

/** The filter `[KH, KW, C, M]` as `[KH, KW, C, C · M]`. */
function withFullFilter(inputs: NamedTensorInfoMap): NamedTensorInfoMap {
  const filter = tensorOf(inputs.filter);
  const [height, width, channels, multiplier] = filter.shape;
  const byChannel = core.reshape(filter, [height * width, channels, 1, multiplier]);
  const full = core.mul(byChannel, ofSameChannel(channels));
  return { ...inputs, filter: core.reshape(full, [height, width, channels, channels * multiplier]) };
}

/** 1 where both channels are the same, shape `[C, C, 1]`. */
function ofSameChannel(channels: number): Tensor {
  return core.expandDims(core.eye(channels), -1);
}
