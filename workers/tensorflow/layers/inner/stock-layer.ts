import type * as layers from '@tensorflow/tfjs-layers';
import { factories, type LayerOptions, type TensorflowLayer, type Weight } from '../tensorflow-layers.ts';

export type DenseArgs = Parameters<typeof layers.layers.dense>[0];
export type ConvArgs = Parameters<typeof layers.layers.conv2d>[0];
export type Initializer = ReturnType<typeof layers.initializers.ones>;

/** A dense layer or convolution of TensorFlow.js whose options and arithmetic another layer uses. */
export interface StockLayer extends TensorflowLayer {
  units: number;
  useBias: boolean;
  supportsMasking: boolean;
  kernel: Weight;
  kernelInitializer: Initializer;
  biasInitializer: Initializer;
  kernelRegularizer: Parameters<AddWeight>[4];
  biasRegularizer: Parameters<AddWeight>[4];
  kernelConstraint: Parameters<AddWeight>[6];
  biasConstraint: Parameters<AddWeight>[6];
  getConfig(): LayerOptions;
}

type AddWeight = (typeof layers.layers.Layer)['prototype']['addWeight'];

export function stockLayer(kind: 'dense' | 'conv2d', options: object): StockLayer {
  return factories[kind](options as LayerOptions) as StockLayer;
}

/** An initializer by its name or description. The package exports no function that reads these. */
export function initializerOf(given: Initializer | string): Initializer {
  return stockLayer('dense', { units: 1, kernelInitializer: given, name: 'initializer-reader' }).kernelInitializer;
}

/** Adds the weights of a stock layer, in other shapes, to the layer that uses it. */
export function addKernelAndBias(
  stock: StockLayer,
  add: AddWeight,
  shapes: { kernel: number[]; bias: number[] },
): { kernel: Weight; bias: Weight | null } {
  const { kernelInitializer, kernelRegularizer, kernelConstraint } = stock;
  const { biasInitializer, biasRegularizer, biasConstraint } = stock;
  return {
    kernel: add('kernel', shapes.kernel, 'float32', kernelInitializer, kernelRegularizer, true, kernelConstraint),
    bias: stock.useBias
      ? add('bias', shapes.bias, 'float32', biasInitializer, biasRegularizer, true, biasConstraint)
      : null,
  };
}
