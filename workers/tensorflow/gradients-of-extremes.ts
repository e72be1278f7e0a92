import * as core from '@tensorflow/tfjs-core';
import type { GradConfig, NamedAttrMap, Tensor } from '@tensorflow/tfjs-core';

/**
 * Gradients of largest and smallest values. tfjs gives each of several equal values the whole gradient, gives none to NaN, and returns a wrong shape for
 * broadcast operands.
 */
export const gradientsOfExtremes: readonly GradConfig[] = [
  { kernelName: 'Max', inputsToSave: ['x'], outputsToSave: [true], gradFunc: shareAmongEquals },
  { kernelName: 'Min', inputsToSave: ['x'], outputsToSave: [true], gradFunc: shareAmongEquals },
  {
    kernelName: 'Maximum',
    inputsToSave: ['a', 'b'],
    gradFunc: (dy, [a, b]) => ({
      a: () => leaveOut(core.less(a, b), dy as Tensor, a.shape),
      b: () => leaveOut(core.greaterEqual(a, b), dy as Tensor, b.shape),
    }),
  },
  {
    kernelName: 'Minimum',
    inputsToSave: ['a', 'b'],
    gradFunc: (dy, [a, b]) => ({
      a: () => leaveOut(core.greater(a, b), dy as Tensor, a.shape),
      b: () => leaveOut(core.lessEqual(a, b), dy as Tensor, b.shape),
    }),
  },
  {
    kernelName: 'SquaredDifference',
    inputsToSave: ['a', 'b'],
    gradFunc: (dy, [a, b]) => {
      const slope = (sign: number): Tensor => core.mul(dy as Tensor, core.mul(core.sub(a, b), 2 * sign));
      return { a: () => sumTo(slope(1), a.shape), b: () => sumTo(slope(-1), b.shape) };
    },
  },
];

/** Reductions over axes: equal values share dy evenly, as in TensorFlow and PyTorch (`amax`). Where y is NaN, all values get NaN. */
function shareAmongEquals(dy: Tensor | Tensor[], [x, y]: Tensor[], attributes: NamedAttrMap) {
  const axes = core.util.parseAxisParam((attributes.reductionIndices ?? attributes.axis) as number[], x.shape);
  const kept = x.shape.map((size, axis) => (axes.includes(axis) ? 1 : size));
  return {
    x: () => {
      // Not a cast: on webgpu it keeps integers, which sums over other axes than the last cannot read.
      const isExtreme = core.where(core.equal(x, core.reshape(y, kept)), core.onesLike(x), core.zerosLike(x));
      const share = core.div(core.reshape(dy as Tensor, kept), core.sum(isExtreme, axes, true));
      return core.mul(isExtreme, share);
    },
  };
}

/** dy, with 0 where the condition holds. No condition holds for NaN, so both operands get dy; of two equal operands the first gets it. */
function leaveOut(condition: Tensor, dy: Tensor, shape: number[]): Tensor {
  return sumTo(core.where(condition, core.zerosLike(dy), dy), shape);
}

/** The gradient of a tensor of this shape from the gradient of its broadcast. */
export function sumTo(gradient: Tensor, shape: number[]): Tensor {
  if (gradient.shape.join() === shape.join()) return gradient;
  return core.reshape(core.sum(gradient, core.broadcast_util.getReductionAxes(shape, gradient.shape)), shape);
}
