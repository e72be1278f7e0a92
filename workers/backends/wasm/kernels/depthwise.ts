import type { backend_util, NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../../tensorflow/tf.ts';
import { type Kernel, required, requireFloats, type WasmRuntime } from '../kernel.ts';
import { applyFused } from '../mat-mul.ts';
import { convolutionInfo, positionsOf, withWindow } from './window.ts';

/** Convolutions of each channel separately: x `[B, H, W, C]`, filter `[KH, KW, C, M]`, y `[B, OH, OW, C · M]`. */
export const depthwiseKernels: Record<string, Kernel> = {
  DepthwiseConv2dNative: depthwiseConv2d,
  FusedDepthwiseConv2D: (runtime, inputs, attributes) =>
    applyFused(runtime, depthwiseConv2d(runtime, inputs, attributes), inputs, attributes),
  DepthwiseConv2dNativeBackpropInput: (runtime, inputs, attributes) => {
    const [dy, filter] = [required(inputs, 'dy'), required(inputs, 'filter')];
    const info = convolutionInfo('depthwiseConv2d', attributes.inputShape as number[], filter.shape, attributes);
    return accumulate(runtime, 'depthwiseInputGradient', [dy, filter], info, info.inShape);
  },
  DepthwiseConv2dNativeBackpropFilter: (runtime, inputs, attributes) => {
    const [x, dy] = [required(inputs, 'x'), required(inputs, 'dy')];
    const info = convolutionInfo('depthwiseConv2d', x.shape, attributes.filterShape as number[], attributes);
    return accumulate(runtime, 'depthwiseFilterGradient', [x, dy], info, info.filterShape);
  },
};

function depthwiseConv2d(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo {
  const [x, filter] = [required(inputs, 'x'), required(inputs, 'filter')];
  const info = convolutionInfo('depthwiseConv2d', x.shape, filter.shape, attributes);
  return accumulate(runtime, 'depthwise', [x, filter], info, info.outShape);
}

type Accumulation = 'depthwise' | 'depthwiseInputGradient' | 'depthwiseFilterGradient';

/**
 * Runs a kernel that adds products of two inputs, at each position of the window, to a tensor of zeros of shape
 * `shape`.
 */
function accumulate(
  { memory, kernels }: WasmRuntime,
  kernel: Accumulation,
  inputs: [TensorInfo, TensorInfo],
  info: backend_util.Conv2DInfo,
  shape: number[],
): TensorInfo {
  requireFloats('depthwiseConv2d', ...inputs);
  const output = memory.output(shape);
  const [first, second, target] = [...inputs, output].map((tensor) => memory.address(tensor));
  memory.floats(target, tf.util.sizeFromShape(shape)).fill(0);
  const multiplier = info.outChannels / info.inChannels;
  const scratchBytes = kernel === 'depthwiseFilterGradient' ? 12 * tf.util.sizeFromShape(shape) : 0;
  withWindow(memory, info, scratchBytes, (window, scratch) =>
    kernels[kernel](first, second, target, window, multiplier, positionsOf(info), scratch),
  );
  return output;
}
