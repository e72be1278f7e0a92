import type { backend_util, NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import { tf } from '../../../tensorflow/tf.ts';
import { type Kernel, required, requireFloats, type WasmRuntime } from '../kernel.ts';
import { applyFused } from '../mat-mul.ts';
import { convolutionInfo, positionsOf, withWindow } from './window.ts';

/**
 * Convolutions as matrix products. With P positions of the window and D = KH · KW · C values under it, `im2col` writes
 * the columns X `[P, D]`; the filter F `[D, O]` is used as stored. Then y = X F, dF = Xᵀ dy, and dX = dy Fᵀ, which
 * `col2im` sums up in the images. Columns are written in blocks, so that scratch space does not grow with the batch.
 */
export const convolutionKernels: Record<string, Kernel> = {
  Conv2D: conv2d,
  FusedConv2D: fusedConv2d,
  Conv2DBackpropInput: conv2dInputGradient,
  Conv2DBackpropFilter: conv2dFilterGradient,
};

/**
 * Size of a block's columns, chosen to fit the second-level cache; at least `leastBlockRows` rows, for a fast product.
 */
const blockBytes = 2 ** 20;
const leastBlockRows = 512;

/** x `[B, H, W, C]` under a filter `[KH, KW, C, O]`: y `[B, OH, OW, O]`. */
function conv2d(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo {
  const [x, filter] = [required(inputs, 'x'), required(inputs, 'filter')];
  requireFloats('conv2d', x, filter);
  const info = convolutionInfo('conv2d', x.shape, filter.shape, attributes);
  const output = runtime.memory.output(info.outShape);
  const [images, weights, y] = [x, filter, output].map((tensor) => runtime.memory.address(tensor));
  const [depth, outputs] = [depthOf(info), info.outChannels];
  eachBlock(runtime, info, images, ({ first, rows, columns, window }) => {
    if (window !== 0) runtime.kernels.im2col(images, window, first, first + rows, columns);
    const target = y + 4 * first * outputs;
    runtime.gemm(false, false, rows, outputs, depth, columns, depth, weights, outputs, 0, target, outputs);
  });
  return output;
}

/** act(conv2d + bias) */
function fusedConv2d(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo {
  return applyFused(runtime, conv2d(runtime, inputs, attributes), inputs, attributes);
}

/** dx `[B, H, W, C]` of dy `[B, OH, OW, O]`; also the forward pass of the transposed convolution. */
function conv2dInputGradient(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo {
  const [dy, filter] = [required(inputs, 'dy'), required(inputs, 'filter')];
  requireFloats('conv2d', dy, filter);
  const info = convolutionInfo('conv2d', attributes.inputShape as number[], filter.shape, attributes);
  const output = runtime.memory.output(info.inShape);
  const [gradients, weights, images] = [dy, filter, output].map((tensor) => runtime.memory.address(tensor));
  const [depth, outputs] = [depthOf(info), info.outChannels];
  if (!isPointwise(info)) runtime.memory.floats(images, tf.util.sizeFromShape(info.inShape)).fill(0);
  eachBlock(runtime, info, images, ({ first, rows, columns, window }) => {
    const source = gradients + 4 * first * outputs;
    runtime.gemm(false, true, rows, depth, outputs, source, outputs, weights, outputs, 0, columns, depth);
    if (window !== 0) runtime.kernels.col2im(columns, window, first, first + rows, images);
  });
  return output;
}

/** dFilter `[KH, KW, C, O]` of dy `[B, OH, OW, O]`. */
function conv2dFilterGradient(runtime: WasmRuntime, inputs: NamedTensorInfoMap, attributes: NamedAttrMap): TensorInfo {
  const [x, dy] = [required(inputs, 'x'), required(inputs, 'dy')];
  requireFloats('conv2d', x, dy);
  const info = convolutionInfo('conv2d', x.shape, attributes.filterShape as number[], attributes);
  const output = runtime.memory.output(info.filterShape);
  const [images, gradients, weights] = [x, dy, output].map((tensor) => runtime.memory.address(tensor));
  const [depth, outputs] = [depthOf(info), info.outChannels];
  if (positionsOf(info) === 0) runtime.memory.floats(weights, depth * outputs).fill(0);
  eachBlock(runtime, info, images, ({ first, rows, columns, window }) => {
    if (window !== 0) runtime.kernels.im2col(images, window, first, first + rows, columns);
    const source = gradients + 4 * first * outputs;
    const beta = first === 0 ? 0 : 1;
    runtime.gemm(true, false, depth, outputs, rows, columns, depth, source, outputs, beta, weights, outputs);
  });
  return output;
}

function depthOf(info: backend_util.Conv2DInfo): number {
  return info.filterHeight * info.filterWidth * info.inChannels;
}

/** Whether the window is a single pixel and visits all of them: the images are then the columns. */
function isPointwise({
  filterHeight,
  filterWidth,
  strideHeight,
  strideWidth,
  padInfo,
}: backend_util.Conv2DInfo): boolean {
  const { top, bottom, left, right } = padInfo;
  return (
    [filterHeight, filterWidth, strideHeight, strideWidth].every((size) => size === 1) &&
    top + bottom + left + right === 0
  );
}

/**
 * Positions `first` to `first + rows`, and the address of their columns. If `window` is 0, the columns are the images
 * themselves.
 */
interface Block {
  first: number;
  rows: number;
  columns: number;
  window: number;
}

function eachBlock(
  { memory }: WasmRuntime,
  info: backend_util.Conv2DInfo,
  images: number,
  work: (block: Block) => void,
): void {
  const positions = positionsOf(info);
  const depth = depthOf(info);
  if (positions === 0 || depth === 0) return;
  if (isPointwise(info)) return work({ first: 0, rows: positions, columns: images, window: 0 });
  const blockRows = Math.min(positions, Math.max(leastBlockRows, Math.floor(blockBytes / 4 / depth)));
  withWindow(memory, info, 4 * blockRows * depth, (window, columns) => {
    for (let first = 0; first < positions; first += blockRows) {
      work({ first, rows: Math.min(blockRows, positions - first), columns, window });
    }
  });
}
