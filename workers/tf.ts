import * as core from '@tensorflow/tfjs-core';
import * as layers from '@tensorflow/tfjs-layers';

/**
 * TensorFlow.js as projects see it: the core with all gradients, and the layers API. The union package `@tensorflow/tfjs`
 * adds browser backends and converters that a worker never needs, and costs start-up time; a project's import of it gets
 * this object.
 */
export const tf: Omit<typeof core, 'default'> & Omit<typeof layers, 'default'> = { ...core, ...layers };

export type { LayersModel, SymbolicTensor } from '@tensorflow/tfjs-layers';
export type { NamedTensorMap, Scalar, Tensor, Variable } from '@tensorflow/tfjs-core';
