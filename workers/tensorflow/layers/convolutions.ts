import * as core from '@tensorflow/tfjs-core';
import type { Tensor, Tensor4D } from '@tensorflow/tfjs-core';
import {
  type Compute,
  factories,
  linear,
  methodsOf,
  replaceCall,
  type TensorflowLayer,
  viewOf,
} from './tensorflow-layers.ts';

type Pair = [number, number];

/** Adds options of convolutions that TensorFlow.js refuses or silently ignores. */
export function correctConvolutions(): void {
  correctConv1d();
  correctDepthwise();
  correctSeparable();
}

/**
 * Adds `causal`: zeros before the sequence, so that y[t] depends on x up to t. Corrects `channelsFirst`, whose result
 * tfjs leaves transposed.
 */
function correctConv1d(): void {
  const methods = methodsOf('conv1d', { filters: 1, kernelSize: 1 });
  const { computeOutputShape } = methods;
  methods.computeOutputShape = function outputShape(this: TensorflowLayer, inputShape) {
    // Padding by the window's length - 1 keeps the length of the sequence, as with `same`.
    const layer = this.padding === 'causal' ? viewOf(this, { padding: 'same' }) : this;
    return computeOutputShape.call(layer, inputShape);
  };
  replaceCall(methods, (layer, x, stock) => {
    const isCausal = layer.padding === 'causal';
    if (!isCausal && layer.dataFormat === 'channelsLast') return stock(layer, x);
    return channelsLast(layer, x, (view, sequences) => {
      if (!isCausal) return stock(view, sequences);
      const before = (layer.kernelSize[0] - 1) * layer.dilationRate[0];
      const padded = core.pad(sequences, [
        [0, 0],
        [before, 0],
        [0, 0],
      ]);
      return stock(viewOf(view, { padding: 'valid' }), padded);
    });
  });
}

/** Adds `dilationRate`, which tfjs's layer ignores. */
function correctDepthwise(): void {
  const methods = methodsOf('depthwiseConv2d', { kernelSize: 1 });
  const { computeOutputShape } = methods;
  methods.computeOutputShape = function outputShape(this: TensorflowLayer, inputShape) {
    const kernelSize = this.kernelSize.map((size, axis) => (size - 1) * this.dilationRate[axis] + 1);
    return computeOutputShape.call(viewOf(this, { kernelSize }), inputShape);
  };
  replaceCall(methods, (layer, x, stock) => {
    if (layer.dilationRate.every((rate) => rate === 1)) return stock(layer, x);
    return channelsLast(layer, x, ({ depthwiseKernel, strides, padding, dilationRate, bias }, images) => {
      const kernel = depthwiseKernel.read() as Tensor4D;
      const [stride, dilation] = [strides as Pair, dilationRate as Pair];
      const y = core.depthwiseConv2d(images as Tensor4D, kernel, stride, padding as 'same', 'NHWC', dilation);
      return bias === null ? y : core.add(y, bias.read());
    });
  });
}

/**
 * Corrects `channelsFirst`, where tfjs adds the bias along the wrong axis, and the initializer of the pointwise filter,
 * which tfjs ignores.
 */
function correctSeparable(): void {
  replaceCall(methodsOf('separableConv2d', { filters: 1, kernelSize: 1 }), (layer, x, stock) =>
    layer.dataFormat === 'channelsLast' ? stock(layer, x) : channelsLast(layer, x, stock),
  );
  const { separableConv2d } = factories;
  factories.separableConv2d = (options = {}) => {
    const layer = separableConv2d(options);
    layer.pointwiseInitializer = initializerOf(options.pointwiseInitializer ?? 'glorotUniform');
    return layer;
  };
}

/** Computes with channels last for any format of the layer, then applies the activation. */
function channelsLast(layer: TensorflowLayer, x: Tensor, compute: Compute): Tensor {
  const axes = x.shape.slice(2).map((_, i) => i + 1);
  const [toLast, toFirst] = [
    [0, ...axes.map((axis) => axis + 1), 1],
    [0, x.rank - 1, ...axes],
  ];
  const view = viewOf(layer, { dataFormat: 'channelsLast', activation: linear });
  if (layer.dataFormat === 'channelsLast') return layer.activation.apply(compute(view, x));
  return layer.activation.apply(core.transpose(compute(view, core.transpose(x, toLast)), toFirst));
}

/** Turns an initializer option (a name, a configuration or an initializer) into an initializer, as a layer does. */
function initializerOf(option: unknown): object {
  const layer = factories.dense({ units: 1, kernelInitializer: option, name: 'initializer' });
  return (layer as unknown as { kernelInitializer: object }).kernelInitializer;
}
