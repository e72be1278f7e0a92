import * as core from '@tensorflow/tfjs-core';
import type { Tensor } from '@tensorflow/tfjs-core';
import { methodsOf, replaceCall, type TensorflowLayer, viewOf, type Weight } from './tensorflow-layers.ts';

/** Adds normalization over axes and of ranks that TensorFlow.js refuses, by reshaping to matrices. */
export function correctNormalization(): void {
  correctBatchNormalization();
  correctLayerNormalization();
}

/** The largest rank that tfjs's layers normalize. */
const largestRank = 4;

/** Normalizes over all axes but `axis`, for values of any rank, with or without `scale` and `center`. */
function correctBatchNormalization(): void {
  const methods = methodsOf('batchNormalization');
  replaceCall(methods, (layer, x, stock, options) => {
    const [axis] = positive(layer.axis, x.rank);
    const isPlain = axis === x.rank - 1 && x.rank <= largestRank;
    if (isPlain && layer.gamma && layer.beta) return stock(layer, x);
    const channels = x.shape[axis];
    const gamma = layer.gamma ?? constant(core.ones([channels]));
    const beta = layer.beta ?? constant(core.zeros([channels]));
    const view = viewOf(layer, { axis: -1, gamma, beta });
    if (isPlain) return stock(view, x);
    // Not `stock`: a backend may have replaced `call` with a kernel for the last axis.
    return byMatrix(x, [axis], (matrix) => methods.call.call(view, matrix, options));
  });
  const { call } = methods;
  methods.call = function callFrozen(this: TensorflowLayer, inputs, options) {
    return call.call(this, inputs, isFrozen(this) ? { ...options, training: false } : options);
  };
}

/**
 * Whether a batch normalization is not trained: as in Keras, it then normalizes by its running statistics, which stay
 * as they are. tfjs freezes the layers of a nested model by their weights alone.
 */
export function isFrozen({ trainable, gamma, beta }: Pick<TensorflowLayer, 'trainable' | 'gamma' | 'beta'>): boolean {
  const weights = [gamma, beta].filter((weight) => weight !== null && weight !== undefined);
  return !trainable || (weights.length > 0 && weights.every((weight) => weight.trainable === false));
}

/** Normalizes over the axes `axis`, for values of any rank, with or without `scale` and `center`. */
function correctLayerNormalization(): void {
  replaceCall(methodsOf('layerNormalization'), (layer, x, stock) => {
    if (x.rank <= largestRank && layer.gamma && layer.beta) return stock(layer, x);
    const axes = positive(layer.axis, x.rank);
    const columns = axes.reduce((product, axis) => product * x.shape[axis], 1);
    const gamma = constant(layer.gamma ? core.reshape(layer.gamma.read(), [-1]) : core.ones([columns]));
    const beta = constant(layer.beta ? core.reshape(layer.beta.read(), [-1]) : core.zeros([columns]));
    const view = viewOf(layer, { axis: [1], scale: true, center: true, gamma, beta });
    return byMatrix(x, axes, (matrix) => stock(view, matrix));
  });
}

/** Applies `compute` to x as a matrix, whose rows hold the values along `axes`. */
export function byMatrix(x: Tensor, axes: readonly number[], compute: (matrix: Tensor) => Tensor): Tensor {
  const others = x.shape.map((_, axis) => axis).filter((axis) => !axes.includes(axis));
  const order = [...others, ...axes];
  const columns = axes.reduce((product, axis) => product * x.shape[axis], 1);
  const moved = core.transpose(x, order);
  const y = core.reshape(compute(core.reshape(moved, [-1, columns])), moved.shape);
  return core.transpose(
    y,
    order.map((_, axis) => order.indexOf(axis)),
  );
}

/** Negative axes converted to axes counted from the first. */
function positive(axes: number | readonly number[], rank: number): number[] {
  return [axes].flat().map((axis) => (axis < 0 ? axis + rank : axis));
}

function constant(value: Tensor): Weight {
  return { read: () => value };
}
