import type { backend_util, NamedAttrMap } from '@tensorflow/tfjs-core';
import type { TensorMemory } from '../memory/tensor-memory.ts';

export type Shape4 = [number, number, number, number];

/** Size of the kernels' `Window`: the 13 values written here and four for its position, rounded up to a multiple of 16 bytes. */
const windowBytes = 20 * 4;

/**
 * Calls `work` with the address of a window that moves over images like that of a convolution or pool, and the address of `scratchBytes` bytes of
 * scratch space. Frees both afterwards.
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

/** @throws Error if the images of a convolution or pool have another layout than `[B, H, W, C]` */
export function requireChannelsLast(op: string, dataFormat: NamedAttrMap[string]): void {
  if (dataFormat === undefined || dataFormat === 'NHWC') return;
  throw new Error(
    `${op} of ${JSON.stringify(dataFormat)} images is not available on the wasm backend: use channelsLast, or --backend cpu.`,
  );
}
