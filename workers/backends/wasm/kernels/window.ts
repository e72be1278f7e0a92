import type { backend_util, NamedAttrMap } from '@tensorflow/tfjs-core';
import { tf } from '../../../tensorflow/tf.ts';
import type { TensorMemory } from '../memory/tensor-memory.ts';

type Shape4 = [number, number, number, number];

/**
 * Size of the kernels' `Window`: the 13 values written here and four for its position, rounded up to a multiple of 16
 * bytes.
 */
const windowBytes = 20 * 4;

/**
 * Calls `work` with the address of a window that moves over images like that of a convolution or pool, and the address
 * of `scratchBytes` bytes of scratch space. Frees both afterwards.
 */
export function withWindow(
  memory: TensorMemory,
  info: backend_util.Conv2DInfo,
  scratchBytes: number,
  work: (window: number, scratch: number) => void,
): void {
  const address = memory.allocate(windowBytes + scratchBytes);
  try {
    memory
      .integers(address, 13)
      .set([
        info.inHeight,
        info.inWidth,
        info.inChannels,
        info.outHeight,
        info.outWidth,
        info.filterHeight,
        info.filterWidth,
        info.strideHeight,
        info.strideWidth,
        info.dilationHeight,
        info.dilationWidth,
        info.padInfo.top,
        info.padInfo.left,
      ]);
    work(address, address + windowBytes);
  } finally {
    memory.free(address);
  }
}

/** The number of positions of the window in a batch. */
export function positionsOf(info: backend_util.Conv2DInfo): number {
  return info.batchSize * info.outHeight * info.outWidth;
}

/**
 * Shapes and window of a convolution of images `[B, H, W, C]`.
 * @param images their shape
 * @param filter its shape: `[height, width, C, outputs]`, or `[height, width, C, multiplier]` for `depthwiseConv2d`
 */
export function convolutionInfo(
  op: 'conv2d' | 'depthwiseConv2d',
  images: number[],
  filter: number[],
  { dataFormat, strides, pad, dilations, dimRoundingMode }: NamedAttrMap,
): backend_util.Conv2DInfo {
  requireChannelsLast(op, dataFormat);
  return tf.backend_util.computeConv2DInfo(
    images as Shape4,
    filter as Shape4,
    strides as [number, number],
    (dilations ?? 1) as [number, number],
    pad as 'same',
    dimRoundingMode as 'floor',
    op === 'depthwiseConv2d',
  );
}

/** @throws Error if the images of a convolution or pool have another layout than `[B, H, W, C]` */
export function requireChannelsLast(op: string, dataFormat: NamedAttrMap[string]): void {
  if (dataFormat === undefined || dataFormat === 'NHWC') return;
  throw new Error(
    `${op} of ${JSON.stringify(dataFormat)} images is not available on the wasm backend: use channelsLast, or ` +
      '--backend cpu.',
  );
}
