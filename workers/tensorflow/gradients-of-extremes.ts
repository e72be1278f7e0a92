import * as core from '@tensorflow/tfjs-core';
import type { GradConfig, NamedAttrMap, Tensor } from '@tensorflow/tfjs-core';

/**
 * Of largest and smallest values. tfjs gives each of several equal values the whole gradient, nothing to NaN, and gradients of a wrong shape where an
 * operand was broadcast.
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

/** Over axes, equal values share dy evenly, as in TensorFlow and PyTorch (`amax`); where y is NaN, all get NaN. */
function shareAmongEquals(dy: Tensor | Tensor[], [x, y]: Tensor[], attributes: NamedAttrMap) {
  const axes = core.util.parseAxisParam((attributes.reductionIndices ?? attributes.axis) as number[], x.shape);
  const kept = x.shape.map((size, axis) => (axes.includes(axis) ? 1 : size));
  return {
    x: () => {
      // Not a cast, which on webgpu keeps integers that a sum along other axes than the last cannot read.
      const isExtreme = core.where(core.equal(x, core.reshape(y, kept)), core.onesLike(x), core.zerosLike(x));
      const share = core.div(core.reshape(dy as Tensor, kept), core.sum(isExtreme, axes, true));
      return core.mul(isExtreme, share);
    },
  };
}

/** 0 where a condition holds, else dy, which NaN operands both get; of the first of two equal ones. */
function leaveOut(condition: Tensor, dy: Tensor, shape: number[]): Tensor {
  return sumTo(core.where(condition, core.zerosLike(dy), dy), shape);
}

/** The gradient of what was broadcast from a shape. */
export function sumTo(gradient: Tensor, shape: number[]): Tensor {
  if (gradient.shape.join() === shape.join()) return gradient;
  return core.reshape(core.sum(gradient, core.broadcast_util.getReductionAxes(shape, gradient.shape)), shape);
}
