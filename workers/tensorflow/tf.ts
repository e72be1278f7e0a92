import * as core from '@tensorflow/tfjs-core';
import * as layers from '@tensorflow/tfjs-layers';
import { registerChainedOps } from './chained-ops.ts';
import { registerGradients } from './gradients.ts';
import { correctLayers } from './layers/index.ts';

registerChainedOps();
registerGradients();
correctLayers();

/**
 * TensorFlow.js for projects: the core with all gradients and chained ops, and the layers API. A project's import of
 * `@tensorflow/tfjs` resolves to `tf-module.ts` instead of that package, whose browser backends and converters a worker
 * does not need and which takes longer to start.
 */
export const tf: Omit<typeof core, 'default'> & Omit<typeof layers, 'default'> = { ...core, ...layers };

export type { LayersModel, SymbolicTensor } from '@tensorflow/tfjs-layers';
export type { Scalar, Tensor, Variable } from '@tensorflow/tfjs-core';
