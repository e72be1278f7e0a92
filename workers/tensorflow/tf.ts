import * as core from '@tensorflow/tfjs-core';
import * as layers from '@tensorflow/tfjs-layers';
import { registerChainedOps } from './chained-ops.ts';
import { registerGradients } from './gradients.ts';
import { correctLayers } from './layers/index.ts';

registerChainedOps();
registerGradients();
correctLayers();

/**
 * TensorFlow.js as projects see it: the core with all gradients and chained ops, and the layers API. The union package
 * `@tensorflow/tfjs` adds browser backends and converters that a worker never needs, and costs start-up time; a project's
 * import of it gets `tf-module.ts`.
 */
export const tf: Omit<typeof core, 'default'> & Omit<typeof layers, 'default'> = { ...core, ...layers };

export type { LayersModel, SymbolicTensor } from '@tensorflow/tfjs-layers';
export type { Scalar, Tensor, Variable } from '@tensorflow/tfjs-core';
