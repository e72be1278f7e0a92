/// <reference types="@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops.d.ts" />
import * as core from '@tensorflow/tfjs-core';
import type { Tensor, TensorLike } from '@tensorflow/tfjs-core';

/**
 * Ops as methods of tensors (`x.flatten().relu()`). Orthogonal initializers and many projects call them. The core's
 * bundle for browsers registers them; its bundle for Node does not.
 */

/** Methods that pass the tensor as the op's first argument. */
const plain = `
  abs acos acosh add all any argMax argMin asin asinh atan atan2 atanh avgPool batchToSpaceND batchNorm
  broadcastTo cast ceil clipByValue conv1d conv2d conv2dTranspose cos cosh cumprod cumsum depthToSpace
  depthwiseConv2d dilation2d div divNoNan dot elu equal erf euclideanNorm exp expandDims expm1 fft floor floorDiv
  gather greater greaterEqual ifft irfft isFinite isInf isNaN leakyRelu less lessEqual localResponseNormalization
  log log1p logSigmoid logSoftmax logSumExp logicalAnd logicalNot logicalOr logicalXor matMul max maxPool maximum
  mean min minimum mirrorPad mod mul neg norm notEqual oneHot onesLike pad pool pow prelu prod reciprocal relu
  relu6 reshape resizeBilinear resizeNearestNeighbor reverse rfft round rsqrt selu separableConv2d sigmoid sign
  sin sinh slice softmax softplus spaceToBatchND split sqrt square squaredDifference squeeze step stridedSlice sub
  sum tan tanh tile topk transpose unique unsortedSegmentSum unstack zerosLike
`;

type Op = (...args: unknown[]) => Tensor;

const listOf = (others: unknown): unknown[] => (Array.isArray(others) ? others : [others]);

/** Methods that differ from their op in more than the first argument. */
const special: Record<string, (this: Tensor, ...args: never[]) => Tensor> = {
  as1D() {
    return core.reshape(this, [this.size]);
  },
  as2D(...shape: number[]) {
    return core.reshape(this, shape);
  },
  as3D(...shape: number[]) {
    return core.reshape(this, shape);
  },
  as4D(...shape: number[]) {
    return core.reshape(this, shape);
  },
  as5D(...shape: number[]) {
    return core.reshape(this, shape);
  },
  asScalar() {
    if (this.size !== 1) throw new Error(`A tensor of ${this.size} elements is no scalar.`);
    return core.reshape(this, []);
  },
  asType(type: core.DataType) {
    return core.cast(this, type);
  },
  concat(others: Tensor | Tensor[], axis?: number) {
    return core.concat([this, ...(listOf(others) as Tensor[])], axis);
  },
  flatten() {
    return core.reshape(this, [this.size]);
  },
  reshapeAs(other: Tensor) {
    return core.reshape(this, other.shape);
  },
  stack(others: Tensor | Tensor[], axis?: number) {
    return core.stack([this, ...(listOf(others) as Tensor[])], axis);
  },
  toBool() {
    return core.cast(this, 'bool');
  },
  toFloat() {
    return core.cast(this, 'float32');
  },
  toInt() {
    return core.cast(this, 'int32');
  },
  where(condition: Tensor, other: TensorLike) {
    return core.where(condition, this, other);
  },
};

/** Adds the methods to tensors; existing methods stay. */
export function registerChainedOps(): void {
  const ops = { ...core, ...core.spectral, ...core.image } as unknown as Record<string, Op>;
  for (const name of plain.trim().split(/\s+/)) {
    const op = ops[name];
    if (typeof op !== 'function') throw new Error(`tfjs-core has no op "${name}": is its version the pinned one?`);
    define(name, function (this: Tensor, ...args: unknown[]) {
      return op(this, ...args);
    });
  }
  for (const [name, method] of Object.entries(special)) define(name, method);
}

function define(name: string, method: (this: Tensor, ...args: never[]) => Tensor): void {
  if (!(name in core.Tensor.prototype))
    Object.defineProperty(core.Tensor.prototype, name, { value: method, writable: true });
}
