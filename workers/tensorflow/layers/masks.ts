import * as core from '@tensorflow/tfjs-core';
import type { Tensor } from '@tensorflow/tfjs-core';
import { methodsOf, replaceCall, type TensorflowLayer } from './tensorflow-layers.ts';

/** Lets layers obey masks of steps, `[B, T]`, where TensorFlow.js ignores them or computes them wrongly. */
export function correctMasks(): void {
  averageKeptSteps();
  joinMasks();
}

/**
 * The mean over the steps that the mask counts, Σ m·x / Σ m, as Keras' layer; TensorFlow.js averages padding too. Of a
 * sample without such a step it is 0, where Keras divides by 0.
 */
function averageKeptSteps(): void {
  replaceCall(methodsOf('globalAveragePooling1d'), (layer, x, stock, options) => {
    const { mask } = options as { mask?: Tensor | null };
    // A mask of other steps belongs to layers before.
    if (mask === undefined || mask === null || mask.shape[1] !== x.shape[1]) return stock(layer, x);
    const kept = core.cast(core.expandDims(mask, -1), 'float32');
    return core.div(core.sum(core.mul(x, kept), 1), core.maximum(core.sum(kept, 1), 1));
  });
}

/**
 * The steps that count in all inputs with a mask, as Keras 2; TensorFlow.js adds an axis and leaves out the last mask.
 */
function joinMasks(): void {
  const merge = Object.getPrototypeOf(methodsOf('add')) as TensorflowLayer;
  merge.computeMask = function computeMask(this: TensorflowLayer, _, masks) {
    const own = [masks].flat().filter((mask) => mask !== null && mask !== undefined);
    if (own.length < 2) return own[0] ?? null;
    return core.tidy(() => own.reduce((all, mask) => core.logicalAnd(all, mask)));
  };
}
